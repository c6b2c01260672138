//! Resolves calls of values: by the callee itself if the module has its function, else by the
//! call resolver.

use regraft_ir::Type;

use super::link::{Args, Callee, Link, LinkKey, says_all};
use super::world::World;
use crate::call_resolver::ResolvedCall;
use crate::error::{ErrorKind, Trap};
use crate::host::Host;
use crate::value::{Val, type_name};

impl World {
    /// Returns what a call of `callee` with these arguments runs.
    pub(super) fn link(&self, callee: &Val, args: &[Val], host: &mut Host) -> Result<Link, Trap> {
        let ctx = &*self.ctx;
        let name = match callee {
            &Val::Func(name) => Some(name),
            Val::Struct(fields) => ctx.struct_of(fields.ty()).and_then(|def| def.call),
            Val::Object(object) => ctx.struct_of(object.ty()).and_then(|def| def.call),
            _ => None,
        };
        if let Some(slot) = name.and_then(|name| self.find(name)) {
            let pass_callee = !matches!(callee, Val::Func(_));
            return Ok(Link { slot, fixed: None, pass_callee, by_value: false });
        }
        if self.resolver.borrow().is_none() {
            return Err(match name {
                Some(name) => self.unknown_name(ctx.str(name)),
                None => {
                    let ty = type_name(ctx, callee.type_of(ctx));
                    let message = format!("a value of type {ty} cannot be called");
                    Trap::new("MethodError", message)
                }
            });
        }
        let types = args.iter().map(|arg| arg.type_by(ctx, &|parts| self.tuple_type(parts)));
        let key = LinkKey { callee: Callee::of(ctx, callee), args: types.collect() };
        if let Some(&link) = self.links.borrow().get(&key) {
            return Ok(link);
        }
        let event = host.start_compilation();
        let link = self.ask(callee, args, host);
        host.end_compilation(event);
        let link = link?;
        if !link.by_value {
            self.links.borrow_mut().insert(key, link);
        }
        Ok(link)
    }

    /// A type of tuples; of one that is known, without a word to the context.
    fn tuple_type(&self, parts: &[Type]) -> Type {
        if let Some(&ty) = self.tuple_types.borrow().get(parts) {
            return ty;
        }
        let ty = self.ctx.tuple_type(parts);
        self.tuple_types.borrow_mut().insert(parts.into(), ty);
        ty
    }

    #[cold]
    fn ask(&self, callee: &Val, args: &[Val], host: &mut Host) -> Result<Link, Trap> {
        let linked = match &mut *self.resolver.borrow_mut() {
            Some(resolver) => resolver.resolve(callee, args, host)?,
            None => return Err(Trap::of_kind(ErrorKind::Module, "there is no call resolver")),
        };
        match self.lookup(linked.function, Some(host))? {
            Some(slot) => {
                let ResolvedCall { fixed, pass_callee, by_value, .. } = linked;
                Ok(Link { slot, fixed, pass_callee, by_value })
            }
            None => Err(self.unknown_name(self.ctx.str(linked.function))),
        }
    }

    /// The function that a call of `callee` runs, and its arguments.
    pub(super) fn arrange(
        &self,
        host: &mut Host,
        callee: &Val,
        args: &[Val],
    ) -> Result<(u32, Args), Trap> {
        let link = self.link(callee, args, host)?;
        Ok((link.slot, link.arrange(host, callee, args)?))
    }
}

/// A place in Rust that calls values again and again: it remembers what the last call ran, so
/// that calls with arguments of the same types need not look for it.
#[derive(Debug, Default)]
pub struct PreparedCall(Option<LastLink>);

#[derive(Debug)]
struct LastLink {
    callee: Callee,
    types: Box<[Type]>,
    link: Link,
    /// The time when it was found: see [`World::links_since`].
    since: u64,
}

impl World {
    /// As [`arrange`](Self::arrange), at a place that remembers.
    pub(super) fn arrange_prepared(
        &self,
        site: &mut PreparedCall,
        host: &mut Host,
        callee: &Val,
        args: &[Val],
    ) -> Result<(u32, Args), Trap> {
        let ctx = &*self.ctx;
        if let Some(last) = &site.0
            && last.since == self.links_since
            && last.callee == Callee::of(ctx, callee)
            && last.types.len() == args.len()
            && args.iter().zip(&last.types).all(|(arg, &ty)| arg.is_a(ctx, ty))
        {
            return Ok((last.link.slot, last.link.arrange(host, callee, args)?));
        }
        let link = self.link(callee, args, host)?;
        let types: Box<[Type]> = args.iter().map(|arg| arg.type_of(ctx)).collect();
        let says_all = types.iter().all(|&ty| says_all(ctx, ty));
        site.0 = (says_all && link.is_for_types()).then(|| LastLink {
            callee: Callee::of(ctx, callee),
            types,
            link,
            since: self.links_since,
        });
        Ok((link.slot, link.arrange(host, callee, args)?))
    }
}
