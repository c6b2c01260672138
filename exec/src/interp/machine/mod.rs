//! The machine that runs compact code: its stacks and frames.
//!
//! Both stacks stay as long as they once were; a frame is a window of each. So a call of a small
//! function costs little more than the copies of its arguments and constants.

mod access;
mod apply;
mod catch;
mod chunks;
mod direct;
mod execute;
mod fuel;
mod native;
mod quick;
mod runtime;
mod step;
mod transfer;

use regraft_ir::Type;

use self::catch::Handler;
pub(super) use self::chunks::call_position;
pub(super) use self::fuel::SLICE;
use self::native::NativeState;
pub(super) use self::runtime::runtime;
pub(crate) use self::transfer::Returned;
use super::code::Code;
use super::inst::Pc;
use super::register::Dst;
use super::state::{Frame, State};
use super::world::{Rest, World};
use crate::chain::{Chain, Path, Spot};
use crate::error::{ErrorKind, ExecError, Trap, index_error};
use crate::value::{Charge, Texts, Val};

/// Calls the function in `slot` of the world.
pub(super) fn run(
    world: &World,
    state: &mut State,
    slot: u32,
    args: &[Val],
) -> Result<Val, ExecError> {
    with_machine(world, state, |machine| {
        let (code, result) = machine.start(slot, |machine, code| {
            let name = world.slot(slot).name;
            machine.push_frame_for(code, name, args, (0, 0), ErrorKind::Arguments)
        })?;
        Ok(result.into_val(code.ret))
    })
}

/// Calls a function with arguments that `pass` writes to the registers of parameters, which come first: scalars in those of the
/// first kind, each in the form of its type, and all others, of the types that the function takes, in those of the second.
///
/// `take` takes the result where it is known in which form it is: a result in memory would be read before it came there.
#[inline]
pub(super) fn run_with<R, E: From<ExecError>>(
    world: &World,
    state: &mut State,
    code: &Code,
    pass: impl FnOnce(&mut [u64], &mut [Val]) -> Result<(), Trap>,
    take: impl FnOnce(Returned) -> Result<R, E>,
) -> Result<R, E> {
    let passed = state.registers(code).and_then(|(scalars, vals)| pass(scalars, vals));
    if let Err(trap) = passed {
        state.vals.fill(Val::Unit);
        return Err(ExecError::new(&world.ctx, trap, Chain::default()).into());
    }
    if let Some(native) = direct::compiled(world, state, code) {
        return direct::run(world, state, code, native, take);
    }
    state.start();
    let result = with_machine(world, state, |machine| {
        let (_, result) =
            machine.start(code.slot, |machine, code| machine.push_frame(code, 0, 0))?;
        Ok(result)
    });
    take(result?)
}

/// A machine on the stacks of the state.
#[inline(always)]
fn with_machine<R>(
    world: &World,
    state: &mut State,
    run: impl FnOnce(&mut Machine<'_>) -> Result<R, ExecError>,
) -> Result<R, ExecError> {
    let mut machine = Machine::on(world, state);
    let result = run(&mut machine);
    machine.end(result.is_err());
    result
}

/// The same place for frames of another time, with nothing in it. (To collect what an iterator over
/// a vector gives, of the same size, uses its memory again.)
#[inline]
fn emptied<'b>(frames: &mut Vec<Frame<'_>>) -> Vec<Frame<'b>> {
    if frames.capacity() == 0 {
        return Vec::new();
    }
    frames.clear();
    std::mem::take(frames).into_iter().map_while(|_| None).collect()
}

struct Machine<'a> {
    world: &'a World,
    state: &'a mut State,
    scalars: Vec<u64>,
    vals: Vec<Val>,
    frames: Vec<Frame<'a>>,
    /// The handlers that errors go to, the innermost last.
    handlers: Vec<Handler>,
    /// The bytes of the stacks, if they have grown.
    stack_charge: Option<Charge>,
    /// The number of frames below those of the innermost stretch of interpreted code.
    base: usize,
    native: NativeState,
    /// The number of events of the profiler that are open around the run.
    events: usize,
}

/// A place in a frame.
#[derive(Clone, Copy)]
struct Place<'a> {
    code: &'a Code,
    pc: Pc,
    /// Where the frame starts in the two stacks.
    scalars: usize,
    vals: usize,
}

/// An error with the place that it happened at.
struct Failure<'a> {
    trap: Trap,
    at: Place<'a>,
}

impl<'a> Machine<'a> {
    /// A machine that has taken the stacks of the state.
    #[inline(always)]
    fn on(world: &'a World, state: &'a mut State) -> Self {
        let mut machine = Self {
            world,
            scalars: std::mem::take(&mut state.scalars),
            vals: std::mem::take(&mut state.vals),
            frames: emptied(&mut state.frames),
            handlers: Vec::new(),
            events: state.host.profiler.depth(),
            state,
            stack_charge: None,
            base: 0,
            native: NativeState::default(),
        };
        machine.make_room_for_native();
        machine
    }

    /// Ends the run, and gives the stacks back.
    #[inline(always)]
    fn end(mut self, failed: bool) {
        self.state.host.end();
        if failed {
            self.state.host.unwind_events(self.events);
            // Frames are still there with what they hold.
            self.vals.fill(Val::Unit);
        }
        // The stacks are kept for the next call, unless one deep recursion blew them up. Where memory is
        // kept in any case, they are too.
        let deepest = self.scalars.len().max(self.vals.len());
        if deepest < 1 << 16 || crate::value::pool::is_active() {
            self.state.scalars = self.scalars;
            self.state.vals = self.vals;
            self.state.frames = emptied(&mut self.frames);
        }
    }

    /// Runs the function in `slot`, whose arguments `enter` writes to its frame.
    #[inline(always)]
    fn start(
        &mut self,
        slot: u32,
        enter: impl FnOnce(&mut Self, &Code) -> Result<(), Trap>,
    ) -> Result<(&'a Code, Returned), ExecError> {
        let world = self.world;
        let entered = self.compiled(slot).and_then(|code| enter(self, code).map(|()| code));
        let code = entered.map_err(|trap| ExecError::new(&world.ctx, trap, Chain::default()))?;
        let result = match self.world.native(code) {
            Some(native) => {
                let fuel = self.state.next_slice();
                self.state.native.fuel.set(fuel);
                let result = self.run_native(native, code, (0, 0));
                self.state.give_back(self.state.native.fuel.get());
                result.map_err(|trap| (trap, None))
            }
            None => self.interpreted(code, 0, 0).map_err(|trap| (trap, None)).and_then(|code| {
                let place = Place { code, pc: 0, scalars: 0, vals: 0 };
                self.execute_to_the_end(place).map_err(|Failure { trap, at }| (trap, Some(at)))
            }),
        };
        result.map(|result| (code, result)).map_err(|(trap, at)| self.failed(trap, at))
    }

    /// The error of a run that none of its frames handles; `at` is the place in interpreted code.
    #[cold]
    fn failed(&mut self, mut trap: Trap, at: Option<Place<'a>>) -> ExecError {
        let path = trap.take_path(0);
        let chain = self.left_down_to(0, path, at);
        let error = ExecError::new(&self.world.ctx, trap, chain);
        error.named(self.state.host.texts(&self.world.ctx))
    }

    /// Runs code until its frame returns, through all handlers of frames above it.
    fn execute_to_the_end(&mut self, mut place: Place<'a>) -> Result<Returned, Failure<'a>> {
        loop {
            match self.execute(place) {
                Ok(result) => return Ok(result),
                Err(failure) => place = self.catch(failure)?,
            }
        }
    }

    /// The code of a function, which may have to be compiled.
    #[inline]
    fn compiled(&mut self, slot: u32) -> Result<&'a Code, Trap> {
        match self.world.slot(slot).code.get() {
            Some(code) => Ok(code),
            None => self.compile(slot),
        }
    }

    #[cold]
    fn compile(&mut self, slot: u32) -> Result<&'a Code, Trap> {
        let event = self.state.host.start_compilation();
        let code = self.world.code(slot);
        self.state.host.end_compilation(event);
        code
    }

    /// The calls that an error leaves on its way to the frame with `floor` frames below it: those
    /// that led to the handler that throws it on, or those that it has left already and the place of
    /// the innermost frame, then the callers.
    fn left_down_to(&mut self, floor: usize, path: Option<Path>, at: Option<Place<'a>>) -> Chain {
        let left = std::mem::take(&mut self.native.left);
        let (mut chain, depth) = match path {
            Some(Path { chain, depth }) => (chain, depth.min(self.frames.len())),
            None => {
                let mut chain = left;
                at.iter().for_each(|at| chain.push(spot(at.code, at.pc)));
                (chain, self.frames.len())
            }
        };
        chain.extend(depth.saturating_sub(floor), |i| self.caller(depth - 1 - i));
        chain
    }

    /// The place of a call, by the number of frames below that of the caller.
    fn caller(&self, depth: usize) -> Spot {
        let frame = &self.frames[depth];
        spot(frame.code, frame.pc)
    }

    /// Makes room for a frame of `code` that starts at `s` and `v`, and fills constants in.
    /// The parameters come first and are up to the caller; what else the scalar registers
    /// hold is left over, the others hold `nothing`.
    #[inline]
    fn push_frame(&mut self, code: &Code, s: usize, v: usize) -> Result<(), Trap> {
        let scalars = s + code.scalar_regs as usize;
        let vals = v + code.val_regs as usize;
        if scalars > self.scalars.len() || vals > self.vals.len() {
            self.grow(scalars, vals)?;
        }
        let constants = s + code.scalar_params as usize;
        self.scalars[constants..constants + code.scalars.len()].copy_from_slice(&code.scalars);
        Ok(())
    }

    /// The form of code that the interpreter runs, in whose frame the arguments stand then.
    #[inline]
    fn interpreted(&mut self, code: &'a Code, s: usize, v: usize) -> Result<&'a Code, Trap> {
        match self.world.code_in(&code.interpreted) {
            Some(form) => self.push_frame(form, s, v).map(|()| form),
            None => Ok(code),
        }
    }

    /// Puts a frame of the rest of a function in the place of one of `code`, with what is live as its arguments.
    #[cold]
    fn go_on(
        &mut self,
        code: &Code,
        rest: &Rest,
        (s, v): (usize, usize),
    ) -> Result<&'a Code, Trap> {
        let form = self.world.code(rest.slot)?;
        let (mut scalars, mut vals) = (Vec::new(), Vec::new());
        for &place in &rest.args {
            match place {
                Dst::Scalar(_, reg) => scalars.push(self.scalars[s + reg as usize]),
                Dst::Val(reg) => {
                    let value = &mut self.vals[v + reg as usize];
                    vals.push(std::mem::replace(value, Val::Unit));
                }
                Dst::Nowhere => vals.push(Val::Unit),
            }
        }
        self.vals[v..v + code.val_regs as usize].fill(Val::Unit);
        self.push_frame(form, s, v)?;
        self.scalars[s..s + scalars.len()].copy_from_slice(&scalars);
        let places = self.vals[v..].iter_mut();
        places.zip(vals).for_each(|(place, value)| *place = value);
        Ok(form)
    }

    /// Makes the stacks longer; they at least double.
    #[cold]
    fn grow(&mut self, scalars: usize, vals: usize) -> Result<(), Trap> {
        let (scalars, vals) = self.longer(scalars, vals);
        let frames = self.frames.capacity() * size_of::<Frame<'_>>();
        if self.native.is_running() && !self.fits(scalars, vals) {
            return Err(self.too_deep());
        }
        let bytes = scalars * size_of::<u64>() + vals * size_of::<Val>() + frames;
        self.state.host.reserve(bytes)?;
        self.scalars.resize(scalars, 0);
        self.vals.resize(vals, Val::Unit);
        self.stack_charge = Some(Charge::new(bytes));
        Ok(())
    }

    #[cold]
    fn too_deep(&self) -> Trap {
        let limit = self.state.limits.depth;
        let message = format!("the depth limit of {limit} nested calls is exceeded");
        Trap::of_kind(ErrorKind::Depth, message)
    }

    /// The texts of values and types in messages.
    fn texts(&self) -> Texts<'_> {
        self.state.host.texts(&self.world.ctx)
    }

    /// Puts entries into the index of a hash table.
    #[inline]
    fn index_entries(&self, index: &Val, hashes: &Val, first: i64, last: i64) -> Result<(), Trap> {
        let (Val::Array(index), Val::Array(hashes)) = (index, hashes) else {
            return Err(Trap::type_error("expected an array"));
        };
        let (Some(places), Some(of)) = (index.buffer::<i32>(), hashes.buffer::<i32>()) else {
            return Err(Trap::type_error("expected an array of i32"));
        };
        let put = places.index_entries(of, first, last);
        put.map_err(|error| index_error(self.texts(), hashes, error))
    }

    #[cold]
    fn wrong_type(&self, value: &Val, want: Type) -> Trap {
        crate::error::wrong_type(self.texts(), value, want)
    }
}

/// The place of an instruction, for errors.
fn spot(code: &Code, pc: Pc) -> Spot {
    let (value, loc) = code.spots[pc as usize];
    Spot { function: code.name, value, loc }
}
