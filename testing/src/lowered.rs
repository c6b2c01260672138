//! The untyped code of a script as text: its items, each under a comment that says what it is.

use std::cell::Cell;
use std::fmt::Write as _;
use std::sync::Arc;

use regraft_ir::{Context, Diagnostic, Function, Symbol, verify_function};
use regraft_lang::definition::{
    Callee, ClosureDef, Item, MethodDef, Space, StaticDecl, TypeExpr, TypeExprKind,
};
use regraft_lang::testing::{LowerOptions, lower};
use regraft_syntax::julia;

/// Lowers a script as a file, without a world, and prints what it becomes.
///
/// # Errors
/// The errors of the parser, of the lowering, and of the verifier.
pub(crate) fn lowered_text(
    ctx: &Arc<Context>,
    name: &str,
    text: &str,
) -> Result<String, Vec<Diagnostic>> {
    let parsed = julia::parse(ctx, name, text, julia::Options::default());
    if !parsed.errors.is_empty() {
        return Err(parsed.errors);
    }
    let options = LowerOptions {
        soft_scope: false,
        is_global: &|_| false,
        space: Space::Main,
        counter: &Cell::new(0),
    };
    let items = lower(ctx, &parsed.ast, &options)?;
    let mut printer = Printer { ctx, out: String::new(), errors: Vec::new() };
    items.iter().for_each(|item| printer.item(item));
    match printer.errors.is_empty() {
        true => Ok(printer.out),
        false => Err(printer.errors),
    }
}

/// A printer of what lowering gives.
struct Printer<'a> {
    ctx: &'a Context,
    out: String,
    /// The errors that the verifier finds in the functions.
    errors: Vec<Diagnostic>,
}

impl Printer<'_> {
    fn line(&mut self, text: &str) {
        let _ = writeln!(self.out, "{text}");
    }

    fn item(&mut self, item: &Item) {
        let ctx = self.ctx;
        match item {
            Item::Methods(methods) => {
                for method in methods {
                    self.method(method);
                }
            }
            Item::Import(import) => {
                let texts = |names: &[Symbol]| -> Vec<&str> {
                    names.iter().map(|&name| ctx.str(name)).collect()
                };
                let word = if import.extends { "import" } else { "using" };
                let path = format!("{}{}", ".".repeat(import.dots), texts(&import.path).join("."));
                let alias =
                    import.alias.map_or(String::new(), |name| format!(" as {}", ctx.str(name)));
                let names = import.names.as_deref().map_or(String::new(), |names| {
                    let names = names.iter().map(|&(name, alias)| match name == alias {
                        true => ctx.str(name).to_owned(),
                        false => format!("{} as {}", ctx.str(name), ctx.str(alias)),
                    });
                    format!(": {}", names.collect::<Vec<_>>().join(", "))
                });
                self.line(&format!("# {word} {path}{alias}{names}"));
            }
            Item::Typed(name, ty) => {
                self.line(&format!("# type {}::{}", ctx.str(*name), ty_text(ctx, ty)));
            }
            Item::Type(name, ty) => {
                self.line(&format!("# const {} = {}", ctx.str(*name), ty_text(ctx, ty)));
            }
            Item::Instance(name, ty) => {
                self.line(&format!("# const {} = {}()", ctx.str(*name), ty_text(ctx, ty)));
            }
            Item::Alias(name, other) => {
                self.line(&format!("# const {} = {}", ctx.str(*name), ctx.str(*other)));
            }
            Item::Export(names) => {
                let names: Vec<&str> = names.iter().map(|&name| ctx.str(name)).collect();
                self.line(&format!("# export {}", names.join(", ")));
            }
            Item::Module { name, items, .. } => {
                self.line(&format!("# module {}", ctx.str(*name)));
                items.iter().for_each(|item| self.item(item));
                self.line("# end");
            }
            Item::Expand { .. } => self.line("# macros to be expanded"),
            Item::Declare(name, _) => self.line(&format!("# declare {}", ctx.str(*name))),
            Item::Struct(decl) => {
                let params = statics(ctx, &decl.params);
                let above = decl.supertype.as_ref().map(|ty| format!(" <: {}", ty_text(ctx, ty)));
                let fields: Vec<String> = decl
                    .fields
                    .iter()
                    .map(|(name, ty)| format!("{}::{}", ctx.str(*name), ty_text(ctx, ty)))
                    .collect();
                let kind = if decl.mutable { "mutable struct" } else { "struct" };
                self.line(&format!(
                    "# {kind} {}{params}{} [{}]",
                    ctx.str(decl.name),
                    above.unwrap_or_default(),
                    fields.join(", ")
                ));
                for method in &decl.constructors {
                    self.method(method);
                }
            }
            Item::Abstract(decl) => {
                let params = statics(ctx, &decl.params);
                let above = decl.supertype.as_ref().map(|ty| format!(" <: {}", ty_text(ctx, ty)));
                self.line(&format!(
                    "# abstract {}{params}{}",
                    ctx.str(decl.name),
                    above.unwrap_or_default()
                ));
            }
            Item::Const(name, thunk) => {
                self.line(&format!("# const {}", ctx.str(*name)));
                self.code(&thunk.body, &thunk.closures);
            }
            Item::Run(thunk) => {
                self.line("# run");
                self.code(&thunk.body, &thunk.closures);
            }
            Item::Include { path, .. } => {
                self.line("# include");
                self.code(&path.body, &path.closures);
            }
            Item::If { condition, then, otherwise } => {
                self.line("# if");
                self.code(&condition.body, &condition.closures);
                self.line("# then");
                then.iter().for_each(|item| self.item(item));
                self.line("# else");
                otherwise.iter().for_each(|item| self.item(item));
                self.line("# end");
            }
        }
    }

    fn method(&mut self, def: &MethodDef) {
        let (ctx, method) = (self.ctx, &def.head);
        let callee = match &method.callee {
            Callee::Function(name) if method.extends_base && method.space != Space::Base => {
                format!("Base.{}", ctx.str(*name))
            }
            Callee::Function(name) => ctx.str(*name).to_owned(),
            Callee::Instance(ty) => format!("(::{})", ty_text(ctx, ty)),
            Callee::Type(ty) => format!("type {}", ty_text(ctx, ty)),
            Callee::Closure(name) => ctx.str(*name).to_owned(),
        };
        let mut params: Vec<String> = Vec::new();
        for param in &method.params {
            let name = param.name.map_or("", |name| ctx.str(name));
            let ty = match ty_text(ctx, &param.ty) {
                any if any == "Any" => String::new(),
                ty => format!("::{ty}"),
            };
            params.push(format!("{name}{ty}"));
        }
        if method.vararg
            && let Some(last) = params.last_mut()
        {
            last.push_str("...");
        }
        let statics = match statics(ctx, &method.statics) {
            none if none.is_empty() => none,
            some => format!(" where {some}"),
        };
        let inline = match method.inline {
            Some(true) => "@inline ",
            Some(false) => "@noinline ",
            None => "",
        };
        self.line(&format!("# {inline}{callee}({}){statics}", params.join(", ")));
        self.code(&def.body, &def.closures);
    }

    fn code(&mut self, body: &Function, closures: &[ClosureDef]) {
        let text = body.to_string();
        self.out.push_str(&text);
        self.errors.extend(verify_function(body).err().unwrap_or_default());
        for closure in closures {
            let captures: Vec<&str> =
                closure.captures.iter().map(|&name| self.ctx.str(name)).collect();
            let (name, shown) = (self.ctx.str(closure.name), self.ctx.str(closure.shown));
            self.line(&format!("# closure {name} ({shown}) [{}]", captures.join(", ")));
            for method in &closure.methods {
                self.method(method);
            }
        }
    }
}

fn statics(ctx: &Context, statics: &[StaticDecl]) -> String {
    if statics.is_empty() {
        return String::new();
    }
    let text = |decl: &StaticDecl| {
        let lower = decl.lower.as_ref().map(|ty| format!("{} <: ", ty_text(ctx, ty)));
        let upper = decl.upper.as_ref().map(|ty| format!(" <: {}", ty_text(ctx, ty)));
        format!("{}{}{}", lower.unwrap_or_default(), ctx.str(decl.name), upper.unwrap_or_default())
    };
    let list: Vec<String> = statics.iter().map(text).collect();
    format!("{{{}}}", list.join(", "))
}

fn ty_text(ctx: &Context, ty: &TypeExpr) -> String {
    let list = |list: &[TypeExpr]| {
        let list: Vec<String> = list.iter().map(|ty| ty_text(ctx, ty)).collect();
        list.join(", ")
    };
    match &ty.kind {
        TypeExprKind::Name(name) => ctx.str(*name).to_owned(),
        TypeExprKind::Apply(base, params) => {
            format!("{}{{{}}}", ty_text(ctx, base), list(params))
        }
        TypeExprKind::Below(ty) => format!("<:{}", ty_text(ctx, ty)),
        TypeExprKind::Above(ty) => format!(">:{}", ty_text(ctx, ty)),
        TypeExprKind::Constant(constant) => ctx.constant_text(*constant),
        TypeExprKind::Tuple(types) => format!("({})", list(types)),
        TypeExprKind::TypeOf(ty) => format!("typeof({})", ty_text(ctx, ty)),
        TypeExprKind::Where(ty, params) => {
            format!("{} where {}", ty_text(ctx, ty), statics(ctx, params))
        }
        TypeExprKind::Vararg(ty) => format!("{}...", ty_text(ctx, ty)),
    }
}
