//! Control flow: sequences, branches, loops, and graphs without structure.

use regraft_dialects::{arith, cf, core};
use regraft_ir::{Block, Constant, Inst, Operand, Type};

use super::body::{Body, MAX_COST, Slot, Var};

/// The number of rounds of a loop that is ended by a counter that is passed along.
const ROUNDS: i64 = 4;

impl Body<'_, '_> {
    /// The whole function, from the parameters to the return.
    pub(super) fn whole(&mut self) {
        let counter = match self.this.params.first() {
            Some(&Slot { ty: Type::I64, .. }) => self.scope.first().map(|var| var.operand),
            _ => None,
        };
        let config = self.shared.config;
        // One draw decides, so that what follows is the same for simpler decisions.
        let shape = if counter.is_some() { self.c().below(20) } else { 0 };
        match counter {
            Some(n) if (14..17).contains(&shape) && config.entry_loops => self.entry_loop(n),
            Some(n) if shape >= 17 && config.calls => self.recursive(n),
            _ => {
                self.sequence();
                self.leave();
            }
        }
        if self.c().chance(12) {
            self.shuffle();
        }
    }

    /// The entry block is the header of a loop: its first parameter counts the rounds that are
    /// left, whatever the caller passed.
    fn entry_loop(&mut self, n: Operand) {
        let (entry, slots) = (self.at, self.this.params.clone());
        let bounded = self.push(arith::min(n, self.int(ROUNDS)));
        let rest = self.push(arith::sub(bounded, self.int(1)));
        self.trips = ROUNDS as u32;
        self.sequence();
        let mut args = vec![Operand::from(rest)];
        args.extend(self.args(&slots[1..]));
        let more = self.push(arith::lt(self.int(0), rest));
        let exit = self.block(&[]);
        self.end(cf::br_if(more, entry, args, exit, [] as [Operand; 0]));
        (self.at, self.trips) = (exit, 1);
        self.sequence();
        self.leave();
    }

    /// The function may call itself: its first parameter says how deep, whatever the caller
    /// passed.
    fn recursive(&mut self, n: Operand) {
        let bounded = self.push(arith::min(n, self.int(ROUNDS - 1)));
        let rest = self.push(arith::sub(bounded, self.int(1)));
        let more = self.push(arith::lt(self.int(0), bounded));
        let (go, stop) = (self.block(&[]), self.block(&[]));
        self.end(cf::br_if(more, go, [] as [Operand; 0], stop, [] as [Operand; 0]));
        let scope = self.scope.len();
        self.at = stop;
        self.leave();
        self.scope.truncate(scope);
        self.at = go;
        self.recursion = Some(rest.into());
        self.sequence();
        self.leave();
        // The call took it. It says from now on that the function is recursive.
        self.recursion = Some(rest.into());
    }

    /// Lays the blocks out in another order, the entry first: nothing may depend on it.
    fn shuffle(&mut self) {
        let mut order: Vec<Block> = self.f.blocks().collect();
        for i in 2..order.len() {
            let j = i - self.c().below(i);
            order.swap(i, j);
        }
        self.f.permute_blocks(&order).expect("it is a permutation that keeps the entry");
    }

    /// Statements, one after the other.
    pub(super) fn sequence(&mut self) {
        while self.left > 0 && self.cost < MAX_COST {
            let start = self.c().open();
            let more = self.c().chance(90);
            if more {
                self.left -= 1;
                self.statement();
            }
            self.c().close(start);
            if !more {
                break;
            }
        }
    }

    fn statement(&mut self) {
        let config = self.shared.config;
        let nests = self.depth < config.max_depth && self.cost < MAX_COST / 2;
        let kind = self.c().below(if nests { 42 } else { 28 });
        self.depth += 1;
        match kind {
            28..30 => self.branch(),
            30 if config.switches => self.switch(),
            31 | 32 | 36 if config.loops && self.trips < 64 => self.counted_loop(),
            33 if config.irreducible && self.trips < 16 => self.graph(),
            34 if config.trap_percent > 0 => self.early_exit(),
            35 if config.unreachable_blocks => self.dead_block(),
            37..40 if config.loops && config.objects && self.trips < 64 => self.kernel(),
            40 if config.loops && config.objects && self.trips < 64 => match self.c().below(5) {
                0 | 1 => self.reduction_nest(),
                2 => self.triangular_nest(),
                _ => self.grid(),
            },
            41 if config.loops && config.objects && self.trips < 64 => match self.c().below(5) {
                0 | 1 => self.recurrence(),
                2 | 3 => self.matrix_nest(),
                _ => self.state_loop(),
            },
            _ if config.smooth => self.smooth_statement(),
            _ => self.any_statement(),
        }
        self.depth -= 1;
    }

    /// Runs `inner` with a scope of its own.
    pub(super) fn scoped(&mut self, inner: impl FnOnce(&mut Self)) {
        let outer = self.scope.len();
        inner(self);
        self.scope.truncate(outer);
    }

    fn jump(&mut self, target: Block, slots: &[Slot]) {
        let args = self.args(slots);
        self.end(cf::br(target, args));
    }

    fn branch(&mut self) {
        let slots = self.slots();
        let condition = self.condition();
        let then = self.block(&[]);
        // Without an `else`, the edge goes to the join itself.
        let otherwise = if self.c().chance(60) { Some(self.block(&[])) } else { None };
        let join = self.block(&slots);
        let no_args = [] as [Operand; 0];
        match otherwise {
            Some(otherwise) => self.end(cf::br_if(condition, then, no_args, otherwise, no_args)),
            None => {
                let args = self.args(&slots);
                if self.c().chance(50) {
                    self.end(cf::br_if(condition, then, no_args, join, args));
                } else {
                    self.end(cf::br_if(condition, join, args, then, no_args));
                }
            }
        }
        // The first arm always gets to the join, so that what follows can be reached.
        for arm in std::iter::once(then).chain(otherwise) {
            self.scoped(|body| {
                body.at = arm;
                body.sequence();
                if Some(arm) == otherwise && body.c().chance(12) {
                    body.give_up();
                } else {
                    body.jump(join, &slots);
                }
            });
        }
        self.enter(join, &slots);
    }

    /// Ends a path otherwise than by going on.
    fn give_up(&mut self) {
        let traps = self.shared.config.trap_percent > 0;
        if traps && self.c().chance(40) {
            let error = self.anything();
            self.push(core::throw(error.operand));
            self.end(cf::unreachable());
        } else {
            self.leave();
        }
    }

    /// `if condition, return` (or throw).
    fn early_exit(&mut self) {
        let condition = self.condition();
        let (out, next) = (self.block(&[]), self.block(&[]));
        let no_args = [] as [Operand; 0];
        self.end(cf::br_if(condition, out, no_args, next, no_args));
        self.scoped(|body| {
            body.at = out;
            body.give_up();
        });
        self.at = next;
    }

    fn switch(&mut self) {
        let slots = self.slots();
        let ty = self.c().pick(&[Type::I64, Type::I8, Type::BOOL, Type::SYM, Type::I32]);
        let mut value = self.operand(ty, true).operand;
        if ty == Type::I64 && self.c().chance(70) {
            value = self.push(arith::and(value, self.int(3))).into();
        }
        let mut cases: Vec<Constant> = Vec::new();
        for _ in 0..self.c().below(5) {
            let ctx = self.ctx();
            let case = match ty {
                Type::I64 => Some(Constant::I64(self.c().below(4) as i64)),
                _ => super::special_constant(&ctx, ty, self.c()),
            };
            cases.extend(case.filter(|case| !cases.contains(case)));
        }
        let arms: Vec<Option<Block>> = (0..=cases.len())
            .map(|_| if self.c().chance(60) { Some(self.block(&[])) } else { None })
            .collect();
        let join = self.block(&slots);
        let mut inst = Inst::new(cf::SWITCH).operand(value);
        let constants: Vec<Operand> = cases.iter().map(|&case| self.constant(case)).collect();
        inst = inst.operands(constants);
        for &arm in &arms {
            inst = match arm {
                Some(arm) => inst.operand(arm),
                None => inst.edge(join, self.args(&slots)),
            };
        }
        self.end(inst);
        for arm in arms.into_iter().flatten() {
            self.scoped(|body| {
                body.at = arm;
                body.sequence();
                body.jump(join, &slots);
            });
        }
        self.enter(join, &slots);
    }

    /// Blocks that go to each other in any way, and are entered at one of several of them. Each
    /// takes a counter, which every edge counts down, and goes to the exit when it is used up.
    fn graph(&mut self) {
        let slots = self.slots();
        let mut all = vec![Slot { ty: Type::I64, known: Type::I64 }];
        all.extend(&slots);
        let count = 2 + self.c().below(3);
        let nodes: Vec<Block> = (0..count).map(|_| self.block(&all)).collect();
        let exit = self.block(&slots);
        let mut start = vec![self.int(ROUNDS)];
        start.extend(self.args(&slots));
        let mut other = vec![self.int(ROUNDS)];
        other.extend(self.args(&slots));
        let condition = self.condition();
        let (a, b) = (self.c().pick(&nodes), self.c().pick(&nodes));
        self.end(cf::br_if(condition, a, start, b, other));
        let trips = self.trips;
        self.trips *= ROUNDS as u32;
        for &node in &nodes {
            self.scoped(|body| {
                body.enter(node, &all);
                let fuel = body.f.param(node, 0).expect("it has a counter");
                body.sequence();
                let rest = body.push(arith::sub(fuel, body.int(1)));
                body.go_on(rest.into(), &nodes, exit, &slots);
            });
        }
        self.trips = trips;
        self.enter(exit, &slots);
    }

    /// Leaves a node of a graph: to the exit if the fuel is used up, else to any node.
    fn go_on(&mut self, fuel: Operand, nodes: &[Block], exit: Block, slots: &[Slot]) {
        let edge = |body: &mut Self| {
            let target = body.c().pick(nodes);
            let mut args = vec![fuel];
            args.extend(body.args(slots));
            (target, args)
        };
        let more = self.push(arith::lt(self.int(0), fuel));
        let out = self.args(slots);
        match self.c().below(3) {
            0 => {
                let (target, args) = edge(self);
                self.end(cf::br_if(more, target, args, exit, out));
            }
            1 => {
                let next = self.block(&[]);
                self.end(cf::br_if(more, next, [] as [Operand; 0], exit, out));
                self.at = next;
                let condition = self.condition();
                let ((a, x), (b, y)) = (edge(self), edge(self));
                self.end(cf::br_if(condition, a, x, b, y));
            }
            _ => {
                let choice = self.operand(Type::I64, false).operand;
                let choice = self.push(arith::and(choice, self.int(3)));
                let choice = self.push(core::select(more, choice, self.int(-1)));
                let edges: Vec<_> = (0..3).map(|_| edge(self)).collect();
                let mut inst = Inst::new(cf::SWITCH).operand(choice);
                inst = inst.operands((0..3).map(|case| self.int(case)).collect::<Vec<_>>());
                inst = inst.edge(exit, out);
                for (target, args) in edges {
                    inst = inst.edge(target, args);
                }
                self.end(inst);
            }
        }
    }

    /// A block that nothing goes to. It may go to itself, to where control really goes, or into
    /// whatever there is, such as the middle of a loop, and may use values of whatever there is.
    fn dead_block(&mut self) {
        let slots = self.slots();
        let next = self.block(&slots);
        self.jump(next, &slots);
        let uses_all = self.c().chance(50);
        let all = if uses_all { self.all_values() } else { Vec::new() };
        let scope: Vec<Var> = std::mem::replace(&mut self.scope, all);
        let recursion = self.recursion.take();
        let dead = self.block(&slots);
        self.enter(dead, &slots);
        let left = std::mem::replace(&mut self.left, 2);
        self.depth += self.shared.config.max_depth;
        self.sequence();
        self.depth -= self.shared.config.max_depth;
        self.left = left;
        match self.c().below(6) {
            0 => self.leave(),
            1 => self.end(cf::unreachable()),
            2 => self.jump(dead, &slots),
            3 => self.jump(next, &slots),
            _ => self.jump_anywhere(),
        }
        (self.scope, self.recursion) = (scope, recursion);
        self.enter(next, &slots);
    }

    /// Everything that is defined so far, wherever.
    fn all_values(&self) -> Vec<Var> {
        let f = &self.f;
        let values = f.blocks().flat_map(|block| f.params(block).chain(f.body(block)));
        values.map(|v| Var { operand: v.into(), ty: f.ty(v), known: f.ty(v) }).collect()
    }

    /// Goes to any block but the entry.
    fn jump_anywhere(&mut self) {
        let blocks: Vec<Block> = self.f.blocks().filter(|&b| Some(b) != self.f.entry()).collect();
        let target = self.c().pick(&blocks);
        let types: Vec<Type> = self.f.params(target).map(|param| self.f.ty(param)).collect();
        let of = |ty| Slot { ty, known: if ty == Type::ANY { Type::I64 } else { ty } };
        let slots: Vec<Slot> = types.into_iter().map(of).collect();
        self.jump(target, &slots);
    }
}
