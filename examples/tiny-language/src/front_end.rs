//! Reads the language in one pass and builds functions on the way: where values of a variable meet,
//! the [`FunctionBuilder`] makes block parameters. Nothing here knows of SSA form.

use std::collections::BTreeMap;
use std::sync::Arc;

use regraft::prelude::*;

/// Reads a program and makes a module of it.
///
/// # Errors
/// The first thing that is wrong, with its place.
pub fn compile(ctx: &Arc<Context>, name: &str, text: &str) -> Result<Module, Diagnostic> {
    let source = ctx
        .add_source(name, text.to_owned())
        .ok_or_else(|| Diagnostic::error("the source is too long"))?;
    let mut module = Module::new(ctx);
    let mut reader = Reader { ctx, source, text, at: 0, last: 0 };
    while !reader.peek().is_empty() {
        let function = reader.function()?;
        module.add(function).map_err(|error| Diagnostic::error(error.to_string()))?;
    }
    Ok(module)
}

struct Reader<'a> {
    ctx: &'a Arc<Context>,
    source: regraft::ir::Source,
    text: &'a str,
    at: usize,
    /// The start of the token that was taken last.
    last: usize,
}

/// A function on its way, and its variables by name.
struct Body {
    b: FunctionBuilder,
    vars: BTreeMap<String, Var>,
}

impl<'a> Reader<'a> {
    /// The next token, which stays; empty at the end.
    fn peek(&mut self) -> &'a str {
        let rest = self.text[self.at..].trim_start();
        self.at = self.text.len() - rest.len();
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let len = match rest.chars().next() {
            None => 0,
            Some(c) if is_word(c) => rest.find(|c| !is_word(c)).unwrap_or(rest.len()),
            Some(c) if "=!<>".contains(c) && rest[1..].starts_with('=') => 2,
            Some(c) => c.len_utf8(),
        };
        &rest[..len]
    }

    fn next(&mut self) -> &'a str {
        let token = self.peek();
        self.last = self.at;
        self.at += token.len();
        token
    }

    fn accept(&mut self, token: &str) -> bool {
        let found = self.peek() == token;
        if found {
            self.next();
        }
        found
    }

    /// The next token is wrong.
    fn error(&mut self, message: impl Into<String>) -> Diagnostic {
        self.peek();
        Diagnostic::error(message).at_loc(self.ctx, self.source.loc(self.at), "here")
    }

    fn expect(&mut self, token: &str) -> Result<(), Diagnostic> {
        if self.accept(token) {
            return Ok(());
        }
        let found = self.peek();
        Err(self.error(format!("expected `{token}`, found `{found}`")))
    }

    fn name(&mut self) -> Result<&'a str, Diagnostic> {
        let token = self.peek();
        if token.starts_with(|c: char| c.is_alphabetic() || c == '_') {
            return Ok(self.next());
        }
        Err(self.error(format!("expected a name, found `{token}`")))
    }

    /// Turns an error of the builder into one of the program, at the token that was taken last.
    fn ok<T>(&self, result: IrResult<T>) -> Result<T, Diagnostic> {
        let loc = self.source.loc(self.last);
        result.map_err(|error| Diagnostic::from(error).at_loc(self.ctx, loc, "here"))
    }

    fn function(&mut self) -> Result<Function, Diagnostic> {
        self.expect("fn")?;
        let name = self.name()?;
        self.expect("(")?;
        let mut params = Vec::new();
        while !self.accept(")") {
            params.push(self.name()?);
            self.accept(",");
        }
        let b = FunctionBuilder::new(self.ctx, name, &vec![Type::I64; params.len()], Type::I64);
        let mut body = Body { b, vars: BTreeMap::new() };
        for (i, param) in params.into_iter().enumerate() {
            let var = body.var(param);
            let value = body.b.param(i);
            self.ok(body.b.def_var(var, value))?;
        }
        self.block(&mut body)?;
        if !body.b.is_ended() {
            let zero = body.b.const_i64(0);
            self.ok(body.b.terminate(cf::ret(zero)))?;
        }
        self.ok(body.b.finish())
    }

    fn block(&mut self, body: &mut Body) -> Result<(), Diagnostic> {
        self.expect("{")?;
        while !self.accept("}") {
            if !self.accept(";") {
                self.statement(body)?;
            }
        }
        Ok(())
    }

    fn statement(&mut self, body: &mut Body) -> Result<(), Diagnostic> {
        self.peek();
        body.b.set_loc(self.source.loc(self.at));
        if body.b.is_ended() {
            // What follows a `return` is not reached.
            let dead = body.b.add_block();
            self.ok(body.b.switch_to(dead))?;
        }
        match self.name()? {
            "return" => {
                let value = self.expression(body, 0)?;
                self.ok(body.b.terminate(cf::ret(value)))
            }
            "print" => {
                let value = self.expression(body, 0)?;
                self.ok(body.b.push(core::println([value]))).map(drop)
            }
            "while" => {
                let [head, inside, after] = [(); 3].map(|()| body.b.add_block());
                self.ok(body.b.terminate(cf::jump(head)))?;
                self.ok(body.b.switch_to(head))?;
                let condition = self.expression(body, 0)?;
                self.ok(body.b.terminate(cf::jump_if(condition, inside, after)))?;
                self.enter(body, inside)?;
                self.block(body)?;
                self.go_to(body, head)?;
                self.ok(body.b.seal(head))?;
                self.enter(body, after)
            }
            "if" => {
                let [then, otherwise, after] = [(); 3].map(|()| body.b.add_block());
                let condition = self.expression(body, 0)?;
                self.ok(body.b.terminate(cf::jump_if(condition, then, otherwise)))?;
                self.enter(body, then)?;
                self.block(body)?;
                self.go_to(body, after)?;
                self.enter(body, otherwise)?;
                if self.accept("else") {
                    self.block(body)?;
                }
                self.go_to(body, after)?;
                self.enter(body, after)
            }
            name => {
                self.expect("=")?;
                let value = self.expression(body, 0)?;
                let var = body.var(name);
                self.ok(body.b.def_var(var, value))
            }
        }
    }

    /// Goes on in a block to which all edges are there.
    fn enter(&self, body: &mut Body, block: Block) -> Result<(), Diagnostic> {
        self.ok(body.b.seal(block))?;
        self.ok(body.b.switch_to(block))
    }

    fn go_to(&self, body: &mut Body, block: Block) -> Result<(), Diagnostic> {
        if body.b.is_ended() { Ok(()) } else { self.ok(body.b.terminate(cf::jump(block))) }
    }

    /// An expression of operators that bind at least as tightly as `level`.
    fn expression(&mut self, body: &mut Body, level: u8) -> Result<Operand, Diagnostic> {
        let mut x = self.atom(body)?;
        loop {
            let (make, own): (fn(Operand, Operand) -> Inst, u8) = match self.peek() {
                "<" => (arith::lt, 0),
                "!=" => (arith::ne, 0),
                "==" => (arith::eq, 0),
                "+" => (arith::add, 1),
                "-" => (arith::sub, 1),
                "*" => (arith::mul, 2),
                "/" => (arith::div, 2),
                "%" => (arith::rem, 2),
                _ => return Ok(x),
            };
            if own < level {
                return Ok(x);
            }
            self.next();
            let y = self.expression(body, own + 1)?;
            x = self.ok(body.b.push(make(x, y)))?.into();
        }
    }

    fn atom(&mut self, body: &mut Body) -> Result<Operand, Diagnostic> {
        if self.accept("(") {
            let x = self.expression(body, 0)?;
            self.expect(")")?;
            return Ok(x);
        }
        if let Ok(number) = self.peek().parse() {
            self.next();
            return Ok(body.b.const_i64(number).into());
        }
        let name = self.name()?;
        if !self.accept("(") {
            let var = body.var(name);
            return self.ok(body.b.use_var(var));
        }
        let mut args = Vec::new();
        while !self.accept(")") {
            args.push(self.expression(body, 0)?);
            self.accept(",");
        }
        let callee = body.b.const_func(name);
        Ok(self.ok(body.b.push(core::call(callee, args, Type::I64)))?.into())
    }
}

impl Body {
    fn var(&mut self, name: &str) -> Var {
        let Self { b, vars } = self;
        *vars.entry(name.to_owned()).or_insert_with(|| b.declare_var(name, Type::I64))
    }
}
