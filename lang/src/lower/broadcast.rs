//! Dot calls: a tree of them is one function of its leaves, so that it is one loop.
//!
//! `a .* b .+ 1` is `call @#broadcast((x, y) -> x * y + 1, a, b)`: literals are within the
//! function, what is called by name too; everything else is evaluated once, from left to right,
//! and passed. A tree of a single call of a plain function needs no function of its own:
//! `f.(a, b)` is `call @#broadcast(@f, a, b)`. What is called and is no name is captured.

use regraft_ir::{Loc, Symbol};
use regraft_syntax::julia::{ExprId, Kind, List};

use super::Lower;
use super::call::Callee as Called;
use super::expr::Vals;
use super::scope::NONE;
use super::ssa::Val;
use crate::definition::ClosureDef;

/// A tree of dot calls, in postorder.
#[derive(Default)]
struct Tree {
    nodes: Vec<Node>,
    /// The arguments of the function.
    leaves: Vals,
    /// The callee, captured if it is no name.
    callees: Vals,
    calls: usize,
}

#[derive(Clone, Copy)]
enum Node {
    Leaf(usize),
    Literal(ExprId),
    /// A function by its name, of so many operands.
    Named(Symbol, usize, Loc),
    /// A captured function.
    Captured(usize, usize, Loc),
}

impl Lower<'_> {
    /// `f.(args)`
    pub(super) fn dot_call(&mut self, id: ExprId, callee: ExprId, args: List) -> Val {
        let mut tree = Tree::default();
        self.dot_tree(&mut tree, id, callee, args);
        let loc = self.loc(id);
        self.broadcast(tree, None, id, loc)
    }

    /// `target .= value`
    pub(super) fn dot_assign(&mut self, id: ExprId, target: ExprId, value: ExprId) -> Val {
        let into = self.destination(target);
        let mut tree = Tree::default();
        self.operand(&mut tree, value);
        let loc = self.loc(id);
        self.broadcast(tree, Some(into), id, loc)
    }

    /// `target .op= value`
    pub(super) fn dot_update(
        &mut self,
        id: ExprId,
        op: Symbol,
        target: ExprId,
        value: ExprId,
    ) -> Val {
        let loc = self.loc(id);
        let into = self.destination(target);
        let mut tree = Tree::default();
        tree.leaf(into);
        self.operand(&mut tree, value);
        tree.calls += 1;
        tree.nodes.push(Node::Named(op, 2, loc));
        self.broadcast(tree, Some(into), id, loc)
    }

    /// The part of an array that `indexed` names, and which is shared with it.
    pub(super) fn view(&mut self, indexed: ExprId) -> Val {
        self.part(indexed, self.names.of_prelude(self.names.view))
    }

    /// Returns the call of a function with what is indexed and the indices.
    fn part(&mut self, indexed: ExprId, function: Symbol) -> Val {
        let Kind::Index { base, indices } = self.ast.kind(indexed) else {
            // It has been reported.
            return self.unit();
        };
        let loc = self.loc(indexed);
        let base = self.expr(base);
        self.call_indexed(function, &[base], indices, loc)
    }

    /// The array that is written to: through a view if it is a part of one, itself if it is an
    /// element.
    fn destination(&mut self, target: ExprId) -> Val {
        match self.ast.kind(target) {
            Kind::Index { .. } => self.part(target, self.names.dotview),
            Kind::View(inner) => self.view(inner),
            Kind::Name(_) | Kind::Field { .. } | Kind::Call { .. } => self.expr(target),
            Kind::Error => self.unit(),
            _ => self.no_value(target, "cannot write to this expression", "not an array"),
        }
    }

    fn operand(&mut self, tree: &mut Tree, id: ExprId) {
        match self.ast.kind(id) {
            Kind::Dot { callee, args } => {
                stacker::maybe_grow(160 << 10, 2 << 20, || self.dot_tree(tree, id, callee, args));
            }
            Kind::Int(_)
            | Kind::Float(_)
            | Kind::Float32(_)
            | Kind::Bits(..)
            | Kind::Bool(_)
            | Kind::Sym(_)
            | Kind::Str(_) => tree.nodes.push(Node::Literal(id)),
            Kind::Splat(inner) => {
                self.error(id, "`...` in a dot call is not supported", "");
                self.stmt(inner);
                tree.nodes.push(Node::Literal(id));
            }
            _ => {
                let value = self.expr(id);
                tree.leaf(value);
            }
        }
    }

    fn dot_tree(&mut self, tree: &mut Tree, id: ExprId, callee: ExprId, args: List) {
        let loc = self.loc(id);
        let (args, named) = self.ast.parted(args);
        let callee = match named.is_empty() {
            true => self.callee(callee),
            false => Called::Value(self.with_keywords(id, callee, named)),
        };
        for &arg in self.ast.list(args) {
            self.operand(tree, arg);
        }
        tree.calls += 1;
        tree.nodes.push(match callee {
            Called::Named(name) if self.is_literal_power(name, args) => {
                Node::Named(self.names.literal_power, args.len(), loc)
            }
            Called::Named(name) => Node::Named(name, args.len(), loc),
            Called::Value(value) => {
                let known = tree.callees.iter().position(|&other| other == value);
                let at = known.unwrap_or_else(|| {
                    tree.callees.push(value);
                    tree.callees.len() - 1
                });
                Node::Captured(at, args.len(), loc)
            }
        });
    }

    fn broadcast(&mut self, mut tree: Tree, into: Option<Val>, id: ExprId, loc: Loc) -> Val {
        let literal = tree.nodes.iter().any(|node| matches!(node, Node::Literal(_)));
        if tree.leaves.is_empty() || (tree.calls == 0 && literal) {
            // Literals are all that there is to loop over.
            for node in &mut tree.nodes {
                if let Node::Literal(id) = *node {
                    let value = self.expr(id);
                    tree.leaves.push(value);
                    *node = Node::Leaf(tree.leaves.len() - 1);
                }
            }
        }
        let literal = tree.nodes.iter().any(|node| matches!(node, Node::Literal(_)));
        let function = match (tree.calls, tree.nodes.last()) {
            (0, _) => {
                let identity = self.names.of_prelude(self.names.identity);
                self.func(identity)
            }
            // The name may be that of a type, or of a variable.
            (1, Some(&Node::Named(name, ..))) if !literal => self.global(name, loc),
            (1, Some(Node::Captured(..))) if !literal => tree.callees[0],
            _ => self.fused(&tree, id, loc),
        };
        let mut args = Vals::from_slice(&[function]);
        args.extend(into);
        args.extend_from_slice(&tree.leaves);
        let name = if into.is_some() { self.names.broadcast_into } else { self.names.broadcast };
        self.call(name, &args, loc)
    }

    /// The function of the leaves.
    fn fused(&mut self, tree: &Tree, id: ExprId, loc: Loc) -> Val {
        let (name, shown) = self.anonymous();
        let text = self.ctx.str(name);
        let captures: Vec<Symbol> =
            (1..=tree.callees.len()).map(|i| self.ctx.symbol(&format!("f{i}"))).collect();
        let outer = self.begin_code(NONE);
        let owner = self.param_value();
        let params: Vals = tree.leaves.iter().map(|_| self.param_value()).collect();
        let mut callees = Vals::new();
        for &capture in &captures {
            let capture = self.sym(capture);
            callees.push(self.syntax(self.names.getfield, &[owner, capture], loc));
        }
        let mut stack = Vals::new();
        for &node in &tree.nodes {
            let value = match node {
                Node::Leaf(at) => params[at],
                Node::Literal(id) => self.expr(id),
                Node::Named(name, count, loc) => {
                    let args: Vals = stack.drain(stack.len() - count..).collect();
                    self.call(name, &args, loc)
                }
                Node::Captured(at, count, loc) => {
                    let args: Vals = stack.drain(stack.len() - count..).collect();
                    self.call_values(Called::Value(callees[at]), &args, loc)
                }
            };
            stack.push(value);
        }
        let result = stack.pop().unwrap_or(Val::UNDEF);
        self.code.body.ret(result, loc);
        let names = vec![None; params.len()];
        let code = self.end_code(outer, text, &[], id);
        let method = self.plain_method(name, names, code, loc);
        let def = ClosureDef { name, shown, captures, methods: vec![method] };
        match tree.callees.is_empty() {
            true => self.closure_of(def, &[], loc),
            false => self.made_at_once(def, &tree.callees, id, loc),
        }
    }

    /// A closure over functions, as a function of these makes it: if what they are is known when the program runs only, so is the
    /// type of the closure, and the loop over all elements is made for it.
    fn made_at_once(&mut self, def: ClosureDef, callees: &[Val], id: ExprId, loc: Loc) -> Val {
        let (name, shown) = self.anonymous();
        let text = self.ctx.str(name);
        let outer = self.begin_code(NONE);
        self.param_value();
        let params: Vals = callees.iter().map(|_| self.param_value()).collect();
        let made = self.closure_of(def, &params, loc);
        self.code.body.ret(made, loc);
        let code = self.end_code(outer, text, &[], id);
        let method = self.plain_method(name, vec![None; params.len()], code, loc);
        let maker = ClosureDef { name, shown, captures: Vec::new(), methods: vec![method] };
        let maker = self.closure_of(maker, &[], loc);
        self.call_values(Called::Value(maker), callees, loc)
    }

    fn closure_of(&mut self, def: ClosureDef, captures: &[Val], loc: Loc) -> Val {
        let mut operands = Vals::from_slice(&[self.func(def.name)]);
        operands.extend_from_slice(captures);
        self.code.closures.push(def);
        self.code.body.push(regraft_dialects::core::CLOSURE, &operands, loc)
    }
}

impl Tree {
    fn leaf(&mut self, value: Val) {
        self.leaves.push(value);
        self.nodes.push(Node::Leaf(self.leaves.len() - 1));
    }
}
