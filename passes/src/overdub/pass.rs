//! The pass `overdub`: sends the calls of a lowered function through those of a context.

use regraft_dialects::core;
use regraft_ir::{Constant, Function, Operand, Type};

use super::{Overdub, seen};
use crate::options::{OptionDef, Options};
use crate::{FunctionPass, PassContext, PassResult};

crate::pass! {
    /// Sends the calls of lowered code through the functions of a context.
    ///
    /// ```text
    ///                                 %4: any = core.global :count
    ///                                 %5: any = core.global :sin
    ///                                 %6: any = core.apply @Cassette.prehook, %4, %5, %x
    /// %3: any = call @sin(%x)    =>   %3: any = core.apply @Cassette.overdub, %4, %5, %x
    ///                                 %7: any = core.apply @Cassette.posthook, %4, %3, %5, %x
    /// ```
    ///
    /// `overdub{context=count}` is what `Cassette.overdub(count, f, x)` does to the code of `f`: the context is a global
    /// variable of the program. Typed code stays as it is.
    #[derive(Debug, Default)]
    pub struct OverdubPass {
        context: String,
        hooks: bool,
    }
}

impl FunctionPass for OverdubPass {
    const NAME: &'static str = "overdub";
    const DOC: &'static str = Self::PAGE;
    const OPTIONS: &'static [OptionDef] = &[
        OptionDef::text("context", "context", "the global variable that holds the context"),
        OptionDef::flag("hooks", true, "call `prehook` and `posthook` around each call"),
    ];

    fn configure(&mut self, options: &Options) -> Result<(), String> {
        options.text("context").clone_into(&mut self.context);
        self.hooks = options.flag("hooks");
        Ok(())
    }

    fn run(&mut self, f: &mut Function, cx: &mut PassContext<'_>) -> PassResult {
        let Some(entry) = f.entry() else { return Ok(()) };
        let calls = f.all_insts().filter(|&v| !v.is_terminator());
        if calls.into_iter().all(|v| seen(f, v) == super::Seen::Not) {
            return Ok(());
        }
        let ctx = f.ctx().clone();
        let function = |name: &str| ctx.constant_id(Constant::Func(ctx.symbol(name)));
        let hook = |name| self.hooks.then(|| function(name));
        let name = ctx.constant_id(Constant::Sym(ctx.symbol(&self.context)));
        let context = f.push_front(entry, core::global(name, Type::ANY))?;
        let first = [Operand::from(context)];
        let overdub = Overdub {
            first: &first,
            through: function("Cassette.overdub"),
            before: hook("Cassette.prehook"),
            after: hook("Cassette.posthook"),
            name_op: function("#intrinsic"),
            within: (function("Cassette.within"), &first),
        };
        cx.add("calls", overdub.run(f, seen)? as u64);
        Ok(())
    }
}
