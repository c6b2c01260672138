//! Functions in Rust for functions of an object file.

use std::fmt::Write;

use regraft_ir::{Diagnostic, Type};

use super::forms::Form;
use super::function::{CFunction, Param};

impl CFunction {
    /// The text of a module of Rust with the function, which needs the crate `regraft-runtime`. Arrays are slices, those of more
    /// than one dimension `ArrayRef` of `ndarray`, for which that has a feature.
    ///
    /// # Errors
    /// If a type has no form in Rust.
    pub fn rust(&self) -> Result<String, Diagnostic> {
        let (mut params, mut ways, mut args) = (Vec::new(), Vec::new(), Vec::new());
        for param in &self.params {
            // A function without captures that is a parameter of itself is passed as what it is.
            if param.form == Form::Nothing && param.shadow_of.is_none() {
                continue;
            }
            let (way, arg) = rust_param(param)?;
            ways.push(format!("::regraft_runtime::{way},"));
            match arg {
                Some(ty) => {
                    params.push(format!("{}: {ty}", param.name));
                    args.push(format!("{},", param.name));
                }
                None => args.push("(),".to_owned()),
            }
        }
        let result = rust_result(&self.result)?;
        let (name, title) = (&self.name, &self.title);
        let (params, ways, args) = (params.join(", "), ways.join(" "), args.join(" "));
        let mut text = String::new();
        let written = write!(
            text,
            "/// `{title}`
///
/// # Errors
/// If the program fails.
pub fn {name}({params}) -> Result<{result}, ::regraft_runtime::Diagnostic> {{
    #[allow(unsafe_code)]
    unsafe extern \"C\" {{
        safe static regraft_image_{name}: ::regraft_runtime::Image;
    }}
    static FUNCTION: ::regraft_runtime::Linked<(({ways}), {result})> =
        ::regraft_runtime::Linked::new(|| &regraft_image_{name});
    FUNCTION.call(({args}))
}}
"
        );
        written.map(|()| text).map_err(|error| Diagnostic::error(error.to_string()))
    }
}

/// The way to pass an argument, and its type.
fn rust_param(param: &Param) -> Result<(String, Option<String>), Diagnostic> {
    Ok(match param.form {
        Form::Nothing | Form::Fields(_) => ("Nothing".to_owned(), None),
        Form::Scalar(ty) => {
            let ty = rust_type(ty);
            (format!("ByValue<{ty}>"), Some(ty.to_owned()))
        }
        Form::Array { element, rank: 1, .. } if param.is_place() => {
            let ty = rust_type(element);
            (format!("InPlace<{ty}>"), Some(format!("&mut {ty}")))
        }
        Form::Array { element, rank, is_read_only } => {
            let ty = match rank {
                1 => format!("[{}]", rust_type(element)),
                2 | 3 => {
                    format!("::regraft_runtime::ndarray::ArrayRef{rank}<{}>", rust_type(element))
                }
                _ => return Err(no_form(&format!("an array of rank {rank}"))),
            };
            let (way, reference) = if is_read_only { ("ByRef", "&") } else { ("ByMut", "&mut ") };
            (format!("{way}<{ty}>"), Some(format!("{reference}{ty}")))
        }
    })
}

fn rust_result(result: &Form) -> Result<String, Diagnostic> {
    Ok(match result {
        Form::Nothing => "()".to_owned(),
        Form::Scalar(ty) => rust_type(*ty).to_owned(),
        Form::Array { element, rank: 1, .. } => format!("Vec<{}>", rust_type(*element)),
        Form::Fields(fields) if fields.first().is_some_and(|(name, _)| name == "_1") => {
            fields.iter().fold("(".to_owned(), |text, (_, ty)| text + rust_type(*ty) + ",") + ")"
        }
        Form::Fields(_) => return Err(no_form("a result with named fields")),
        Form::Array { rank, .. } => {
            return Err(no_form(&format!("a result that is an array of rank {rank}")));
        }
    })
}

fn no_form(what: &str) -> Diagnostic {
    Diagnostic::error(format!("{what} has no form in Rust"))
}

fn rust_type(ty: Type) -> &'static str {
    match ty {
        Type::BOOL => "bool",
        Type::I8 => "i8",
        Type::I16 => "i16",
        Type::I32 => "i32",
        Type::I64 => "i64",
        Type::F32 => "f32",
        _ => "f64",
    }
}
