//! A function in C for a function of a program: its name and parameters.

use regraft_ir::{Diagnostic, Function, Module, Symbol};

use super::forms::{self, Form, param_name};

/// The words that no parameter or function in C or C++ can be called, which programs of the language use.
const KEYWORDS: &[&str] = &[
    "alignas",
    "alignof",
    "and",
    "asm",
    "auto",
    "bool",
    "break",
    "case",
    "catch",
    "char",
    "class",
    "const",
    "continue",
    "default",
    "delete",
    "do",
    "double",
    "else",
    "enum",
    "explicit",
    "export",
    "extern",
    "false",
    "float",
    "for",
    "friend",
    "goto",
    "if",
    "inline",
    "int",
    "long",
    "mutable",
    "namespace",
    "new",
    "not",
    "operator",
    "or",
    "private",
    "protected",
    "public",
    "register",
    "restrict",
    "return",
    "short",
    "signed",
    "sizeof",
    "static",
    "struct",
    "switch",
    "template",
    "this",
    "throw",
    "true",
    "try",
    "typedef",
    "typename",
    "union",
    "unsigned",
    "using",
    "virtual",
    "void",
    "volatile",
    "while",
    "xor",
];

/// A parameter of a function of a program, as it stands in C.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Param {
    /// The name, which is one of C.
    pub name: String,
    /// The form.
    pub form: Form,
    /// The parameter, by its number, whose derivative goes to what this one points to: an array as large as
    /// that, or one number.
    pub shadow_of: Option<Shadowed>,
}

/// A parameter whose derivative another one takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shadowed {
    /// Its number.
    pub param: usize,
    /// True if it is a number: the other one points to one.
    pub is_number: bool,
}

impl Param {
    /// True if it points to one number.
    pub(super) fn is_place(&self) -> bool {
        self.shadow_of.is_some_and(|of| of.is_number)
    }
}

/// A function in C for a function of a program.
#[derive(Clone, Debug)]
pub struct CFunction {
    /// The function of the program.
    pub(super) function: Symbol,
    /// The name, which is one of C.
    pub name: String,
    /// The function and its types, as the program says it.
    pub title: String,
    /// By parameter of the function.
    pub params: Vec<Param>,
    /// The result.
    pub result: Form,
}

impl CFunction {
    /// The function of that name in a module, which is called `name` in C.
    ///
    /// # Errors
    /// If there is none, if a type has no form in C, or if the name cannot be one there.
    pub fn of(module: &Module, function: &str, name: &str) -> Result<Self, Diagnostic> {
        let id = forms::find(module, function)?;
        let Some(f) = module.get(id) else { return Err(Diagnostic::error("it is gone")) };
        let params = forms::params(module, id)?.into_iter().enumerate();
        let params = params.map(|(at, form)| {
            let name = c_name(param_name(f, at).unwrap_or(""));
            Param { name: name.unwrap_or_else(|| format!("x{}", at + 1)), form, shadow_of: None }
        });
        let params = distinct(params.collect());
        let result = forms::result(f)?;
        if c_name(name).as_deref() != Some(name) {
            let message = format!("`{name}` cannot be the name of a function in C");
            return Err(Diagnostic::error(message).help("give it another name: --name NAME"));
        }
        Ok(Self { function: f.name(), name: name.to_owned(), title: title(f), params, result })
    }

    /// Sets what the function is called in comments.
    #[must_use]
    pub fn titled(mut self, title: impl Into<String>) -> Self {
        self.title = title.into();
        self
    }

    /// Says that from the parameter `first_shadow` on, parameters take the derivatives by those from
    /// `first` on.
    #[must_use]
    pub fn with_shadows(mut self, first: usize, first_shadow: usize) -> Self {
        for at in first_shadow..self.params.len() {
            let of = first + at - first_shadow;
            let name = format!("d{}", self.params[of].name);
            let is_number = matches!(self.params[of].form, Form::Scalar(_));
            let param = &mut self.params[at];
            (param.name, param.shadow_of) = (name, Some(Shadowed { param: of, is_number }));
        }
        self.params = distinct(self.params);
        self
    }
}

/// The types of a function.
fn title(f: &Function) -> String {
    let types = f.param_types().into_iter().map(|ty| f.ctx().type_text(ty));
    let types: Vec<String> = types.collect();
    let name = f.name_str().split('(').next().unwrap_or_default();
    format!("{name}({}) -> {}", types.join(", "), f.ctx().type_text(f.ret_type()))
}

/// The beginning of a name, up to the first character that C does not know, if that can be a name in C.
pub fn c_name(name: &str) -> Option<String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let end = name.find(|c| !is_plain(c)).unwrap_or(name.len());
    let name = &name[..end];
    let is_name = name.starts_with(|c: char| !c.is_ascii_digit()) && !KEYWORDS.contains(&name);
    is_name.then(|| name.to_owned())
}

/// The parameters, with numbers behind names that are there twice.
fn distinct(mut params: Vec<Param>) -> Vec<Param> {
    for at in 0..params.len() {
        let taken = |name: &str, params: &[Param]| {
            name == "result" || params[..at].iter().any(|other| other.name == name)
        };
        let name = params[at].name.clone();
        let mut number = 2;
        while taken(&params[at].name, &params) {
            params[at].name = format!("{name}{number}");
            number += 1;
        }
    }
    params
}
