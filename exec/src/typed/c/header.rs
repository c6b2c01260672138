//! Headers for C.

use regraft_ir::Type;

use super::forms::Form;
use super::function::{CFunction, Param};

/// The beginning of all headers.
const COMMON: &str = r#"#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifndef REGRAFT_RUNTIME
#define REGRAFT_RUNTIME
#ifdef __cplusplus
extern "C" {
#endif

/** What went wrong in a call. */
typedef struct regraft_error regraft_error;

/** The message, which lives as long as the error. */
const char *regraft_error_message(const regraft_error *error);

/** The message with its place in the program and the calls that led there; it lives as long as the error. */
const char *regraft_error_report(const regraft_error *error);

/** Frees an error; NULL is none. */
void regraft_error_free(regraft_error *error);

/** Frees the elements of a result; NULL are none. */
void regraft_free(void *memory);

#ifdef __cplusplus
}
#endif
#endif
"#;

impl CFunction {
    /// The header that declares the function.
    pub fn header(&self) -> String {
        header(std::slice::from_ref(self))
    }

    /// The prototype, with comments.
    fn declaration(&self) -> String {
        let mut notes = vec![self.title.clone(), String::new()];
        let mut params = Vec::new();
        for (at, param) in self.params.iter().enumerate() {
            notes.extend(self.note(at));
            params.extend(c_params(param));
        }
        let (mut structure, mut place) = (String::new(), None);
        match &self.result {
            Form::Nothing => {}
            Form::Scalar(ty) => {
                place = Some(format!("{} *result", c_type(*ty)));
                notes.push("@param result the result; NULL if nobody wants it".to_owned());
            }
            Form::Fields(fields) => {
                let fields =
                    fields.iter().map(|(name, ty)| format!("    {} {name};\n", c_type(*ty)));
                structure = self.structure("The result of", &fields.collect::<String>());
                place = Some(format!("{}_result *result", self.name));
                notes.push("@param result the result; NULL if nobody wants it".to_owned());
            }
            &Form::Array { element, rank, .. } => {
                let lengths = length_names("", rank).join(", ");
                let fields = format!("    {} *data;\n    size_t {lengths};\n", c_type(element));
                structure = self.structure(
                    "The elements, the first index running fastest, of the result of",
                    &fields,
                );
                place = Some(format!("{}_result *result", self.name));
                notes.push(
                    "@param result the result; NULL if nobody wants it. regraft_free(result->data) frees it".to_owned(),
                );
            }
        }
        params.extend(place);
        notes.push("@return NULL, or an error, which regraft_error_free frees".to_owned());
        let notes: String =
            notes.iter().map(|note| format!(" * {note}").trim_end().to_owned() + "\n").collect();
        let params = if params.is_empty() { "void".to_owned() } else { params.join(", ") };
        format!("{structure}/**\n{notes} */\nregraft_error *{}({params});\n", self.name)
    }

    fn structure(&self, what: &str, fields: &str) -> String {
        let name = &self.name;
        format!(
            "/** {what} {name}. */\ntypedef struct {name}_result {{\n{fields}}} {name}_result;\n\n"
        )
    }

    /// The comment on a parameter, if it needs one.
    fn note(&self, at: usize) -> Option<String> {
        let Param { name, form, shadow_of } = &self.params[at];
        let &Form::Array { rank, is_read_only, .. } = form else { return None };
        if let Some(of) = shadow_of {
            let shape = if of.is_number { "one number" } else { "as many elements" };
            let of = &self.params[of.param].name;
            return Some(format!(
                "@param {name} takes the derivative by {of}: {shape}, apart from other arrays"
            ));
        }
        let lengths = length_names(name, rank).join(" * ");
        let order = if rank > 1 { ", the first index running fastest" } else { "" };
        let use_of = if is_read_only {
            "only read"
        } else {
            "may be written to, so they must not overlap other arrays"
        };
        Some(format!("@param {name} {lengths} elements{order}; {use_of}"))
    }
}

/// The header that declares functions.
pub fn header(functions: &[CFunction]) -> String {
    let name = functions.first().map_or("", |function| &function.name);
    let guard = format!("REGRAFT_{}_H", name.to_ascii_uppercase());
    let version = env!("CARGO_PKG_VERSION");
    let declarations: Vec<String> = functions.iter().map(CFunction::declaration).collect();
    let declarations = declarations.join("\n");
    format!(
        "/* Written by Regraft {version}. */\n#ifndef {guard}\n#define {guard}\n\n{COMMON}\n\
         #ifdef __cplusplus\nextern \"C\" {{\n#endif\n\n{declarations}\n#ifdef __cplusplus\n}}\n#endif\n#endif\n"
    )
}

/// The parameters in C for one of a function.
fn c_params(param: &Param) -> Vec<String> {
    let name = &param.name;
    match param.form {
        Form::Nothing | Form::Fields(_) => Vec::new(),
        Form::Scalar(ty) => vec![format!("{} {name}", c_type(ty))],
        Form::Array { element, rank, is_read_only } => {
            let constant = if is_read_only { "const " } else { "" };
            let mut params = vec![format!("{constant}{} *{name}", c_type(element))];
            if param.shadow_of.is_none() {
                params.extend(
                    length_names(name, rank).iter().map(|length| format!("size_t {length}")),
                );
            }
            params
        }
    }
}

/// The names of the lengths of an array.
fn length_names(name: &str, rank: u8) -> Vec<String> {
    let of =
        |length: &str| if name.is_empty() { length.to_owned() } else { format!("{name}_{length}") };
    match rank {
        1 => vec![of("len")],
        2 => vec![of("rows"), of("columns")],
        _ => (1..=rank).map(|dim| of(&format!("size{dim}"))).collect(),
    }
}

fn c_type(ty: Type) -> &'static str {
    match ty {
        Type::BOOL => "bool",
        Type::I8 => "int8_t",
        Type::I16 => "int16_t",
        Type::I32 => "int32_t",
        Type::I64 => "int64_t",
        Type::F32 => "float",
        _ => "double",
    }
}
