//! Functions that run in chunks, on several threads.
//!
//! # Method
//! The thread of the program takes chunks as the [workers](super::super::workers) do, one after the other from the first
//! on, and runs them as the loop would. Workers get the arguments as a [`Parcel`]. What chunks give is put together
//! in their order.
//!
//! If a chunk fails, nobody takes another one: all before it have been taken, so the failure of the first chunk that
//! fails is the one that the loop would come to. One that came to a worker is run again here, for the error in the terms of
//! this program; if that comes to its end, as what the first run has changed may let it, the error is the worker's.
//!
//! # When it is possible
//! There is native code, whoever made the functions says that the kernel [may be shared](crate::CallResolver::may_share),
//! instructions are not counted, and nobody records them. Otherwise the loop runs as it stands.

use std::sync::Arc;

use super::super::code::{ChunkSite, Code};
use super::super::inst::Pc;
use super::super::register::Scalar;
use super::super::workers::{Failure, Job, OpenJob};
use super::{Machine, Returned};
use crate::chain::Chain;
use crate::error::{ErrorKind, Trap};
use crate::value::{Array, Change, ElementType, Parcel, Val};

impl<'a> Machine<'a> {
    /// Runs the chunks of a function whose arguments are in its frame; `None` if the loop is to run.
    pub(super) fn run_chunks(
        &mut self,
        code: &'a Code,
        site: &'a ChunkSite,
        (s, v): (usize, usize),
    ) -> Result<Option<Val>, Trap> {
        let count =
            code.scalar_params.checked_sub(1).map(|at| self.scalars[s + at as usize] as i64);
        let count = usize::try_from(count.unwrap_or(0)).unwrap_or(0);
        let threads = self.state.threads.min(count);
        if threads < 2 || self.state.limits.fuel.is_some() {
            return Ok(None);
        }
        let Some((callee, kernel)) = self.world.shared_kernel(site) else { return Ok(None) };
        let args = self.chunk_args(code, (s, v));
        let Some((parcel, given)) = Parcel::pack(&self.world.ctx, &args) else { return Ok(None) };
        let callee = self.compiled(callee)?;
        let mut limits = self.state.limits;
        limits.memory = self.state.host.remaining() / threads;
        limits.depth = limits.depth.saturating_sub(self.frames.len());
        let interrupt = Arc::clone(&self.state.interrupt);
        let job = OpenJob::new(Job::new(kernel, parcel, count, limits, interrupt), threads - 1);
        let mut results: Vec<Option<Val>> = vec![None; count];
        let mut failed: Option<(usize, Trap)> = None;
        while let Some(chunk) = job.take() {
            match self.call_kernel(code, site, (s, v), callee, &args, chunk) {
                Ok(value) => results[chunk] = Some(value),
                Err(trap) => {
                    job.fail();
                    failed = Some((chunk, trap));
                }
            }
        }
        for answer in job.close() {
            if let Some((values, changes)) = answer.parcel.open(&self.world.ctx, &given) {
                changes.into_iter().for_each(Change::apply);
                for (&chunk, value) in answer.chunks.iter().zip(values) {
                    results[chunk] = Some(value);
                }
            }
            if let Some(Failure { chunk, kind, message }) = answer.failed
                && failed.as_ref().is_none_or(|&(other, _)| chunk < other)
            {
                self.native.left = Chain::default();
                let again = self.call_kernel(code, site, (s, v), callee, &args, chunk);
                let trap = again.err().unwrap_or_else(|| Trap::of_kind(kind, message));
                failed = Some((chunk, trap));
            }
        }
        if let Some((_, trap)) = failed {
            return Err(trap);
        }
        let results: Option<Vec<Val>> = results.into_iter().collect();
        let lost = || Trap::of_kind(ErrorKind::Module, "a chunk has no result");
        let results = results.ok_or_else(lost)?;
        let element = ElementType::of(&self.world.ctx, site.element);
        self.state.host.reserve_array(element, count)?;
        let made = Array::of_values(element, &results, &[count]);
        made.map(|array| Some(array.into())).map_err(|_| lost())
    }

    /// The arguments that all chunks have.
    fn chunk_args(&self, code: &Code, (s, v): (usize, usize)) -> Vec<Val> {
        let (mut s, mut v) = (s, v);
        let of = |ty| match Scalar::of(ty) {
            Some(ty) => {
                s += 1;
                ty.boxed(self.scalars[s - 1])
            }
            None => {
                v += 1;
                self.vals[v - 1].clone()
            }
        };
        let (_, params) = code.params.split_last().unwrap_or((&regraft_ir::Type::UNIT, &[]));
        params.iter().copied().map(of).collect()
    }

    /// Runs a chunk, counted from 0, as the call in the loop would.
    fn call_kernel(
        &mut self,
        code: &'a Code,
        site: &ChunkSite,
        (s, v): (usize, usize),
        callee: &'a Code,
        args: &[Val],
        chunk: usize,
    ) -> Result<Val, Trap> {
        self.check_depth()?;
        let next = (s + code.scalar_regs as usize, v + code.val_regs as usize);
        let mut all = args.to_vec();
        all.push(Val::I64(chunk as i64 + 1));
        self.push_frame_for(callee, callee.name, &all, next, ErrorKind::Arguments)?;
        drop(all);
        let result = self.run_callee(code, site.call, (s, v), callee, next)?;
        Ok(match result {
            Returned::Parts => Val::Unit,
            result => result.into_val(callee.ret),
        })
    }
}

/// The position of the call in a loop over chunks.
pub(in crate::interp) fn call_position(code: &Code) -> Option<(Pc, u32)> {
    use super::super::inst::Inst;
    (0..).zip(&code.insts).find_map(|(pc, &inst)| match inst {
        Inst::Call { site } => Some((pc, code.calls[site as usize].callee)),
        _ => None,
    })
}
