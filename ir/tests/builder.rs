//! Functions built from variables: the parameters that there are in the end, what is refused, and
//! that built functions compute what the variables say.

mod common;

use common::*;
use regraft_ir::{
    Block, Constant, Function, FunctionBuilder, IrErrorKind, IrResult, Operand, Type, Value, Var,
    verify_function,
};

/// `count(n) = (i = 0; while i < n; i += 1; end; i)`, sealing each block early or not at all.
fn count(seal: bool) -> Function {
    let build = || -> IrResult<Function> {
        let mut b = FunctionBuilder::new(&context(), "count", &[Type::I64], Type::I64);
        let i = b.declare_var("i", Type::I64);
        let n = b.param(0);
        b.def_var(i, b.const_i64(0))?;
        let [head, body, exit] = [(); 3].map(|()| b.add_block());
        b.terminate(jump(head, &[]))?;
        b.switch_to(head)?;
        let now = b.use_var(i)?;
        let go = b.push(lt(now, n))?;
        b.terminate(branch(go, (body, &[]), (exit, &[])))?;
        if seal {
            b.seal(body)?;
        }
        b.switch_to(body)?;
        let now = b.use_var(i)?;
        let next = b.push(add(now, b.const_i64(1)))?;
        b.def_var(i, next)?;
        b.terminate(jump(head, &[]))?;
        if seal {
            b.seal(head)?;
            b.seal(exit)?;
        }
        b.switch_to(exit)?;
        let last = b.use_var(i)?;
        b.terminate(ret(last))?;
        b.finish()
    };
    checked(build().unwrap())
}

fn checked(f: Function) -> Function {
    f.check_invariants().unwrap();
    verify_function(&f).unwrap();
    f
}

#[test]
fn a_loop_has_one_parameter_for_each_variable_that_changes_in_it() {
    let f = count(true);
    let want = "\
func @count(%1: i64) -> i64 {
^1:
  br ^2(0)
^2(%i: i64):
  %3: bool = t.lt %i, %1
  br %3, ^3, ^4
^3:
  %i.1: i64 = t.add %i, 1
  br ^2(%i.1)
^4:
  return %i
}
";
    assert_eq!(f.to_string(), want);
}

#[test]
fn sealing_at_the_end_gives_the_same_function() {
    assert!(count(true).structural_eq(&count(false)));
    assert!(count(true).structural_eq(&counting_loop().0));
}

/// A builder whose entry jumps to `head`, a loop around `body`; `exit` follows. Stands in `head`.
fn in_loop(params: &[Type]) -> (FunctionBuilder, [Block; 3]) {
    let mut b = FunctionBuilder::new(&context(), "f", params, Type::I64);
    let blocks = [(); 3].map(|()| b.add_block());
    (b, blocks)
}

#[test]
fn a_variable_that_a_loop_does_not_change_has_no_parameter() {
    let (mut b, [head, body, exit]) = in_loop(&[Type::I64, Type::BOOL]);
    let x = b.declare_var("x", Type::I64);
    let y = b.declare_var("y", Type::I64);
    b.def_var(x, b.param(0)).unwrap();
    b.terminate(jump(head, &[])).unwrap();
    b.switch_to(head).unwrap();
    // This makes a parameter, which is found not to be needed when the loop is closed.
    let early = b.use_var(x).unwrap();
    b.def_var(y, early).unwrap();
    b.terminate(branch(b.param(1), (body, &[]), (exit, &[]))).unwrap();
    b.switch_to(body).unwrap();
    let same = b.use_var_of(y);
    b.def_var(x, same).unwrap();
    b.terminate(jump(head, &[])).unwrap();
    b.switch_to(exit).unwrap();
    // The handle from before is still good.
    let late = b.use_var_of(y);
    let sum = b.push(add(early, late)).unwrap();
    b.terminate(ret(sum)).unwrap();
    let f = checked(b.finish().unwrap());
    assert!(f.blocks().skip(1).all(|block| f.param_count(block) == 0), "{f}");
    let sum = f.value_by_number(sum.number()).unwrap();
    let x = Operand::from(f.value_by_number(1).unwrap());
    assert_eq!(f.operands(sum).collect::<Vec<_>>(), [x, x]);
}

trait UseVar {
    fn use_var_of(&mut self, var: Var) -> Operand;
}

impl UseVar for FunctionBuilder {
    fn use_var_of(&mut self, var: Var) -> Operand {
        self.use_var(var).unwrap()
    }
}

#[test]
fn both_edges_of_a_branch_to_one_block_pass_the_value() {
    let mut b = FunctionBuilder::new(&context(), "f", &[Type::BOOL, Type::I64], Type::I64);
    let x = b.declare_var("x", Type::I64);
    let [left, right, join] = [(); 3].map(|()| b.add_block());
    b.terminate(branch(b.param(0), (left, &[]), (right, &[]))).unwrap();
    for (block, value) in [(left, b.const_i64(1)), (right, b.const_i64(2))] {
        b.switch_to(block).unwrap();
        b.def_var(x, value).unwrap();
        b.terminate(branch(b.param(0), (join, &[]), (join, &[]))).unwrap();
    }
    b.switch_to(join).unwrap();
    let value = b.use_var_of(x);
    b.terminate(ret(value)).unwrap();
    let f = checked(b.finish().unwrap());
    let want =
        "^2:\n  br %1, ^4(1), ^4(1)\n^3:\n  br %1, ^4(2), ^4(2)\n^4(%x: i64):\n  return %x\n";
    assert!(f.to_string().contains(want), "{f}");
}

#[test]
fn parameters_of_ones_own_stand_before_those_for_variables() {
    let mut b = FunctionBuilder::new(&context(), "f", &[Type::BOOL, Type::I64], Type::I64);
    let x = b.declare_var("x", Type::I64);
    let [other, join] = [(); 2].map(|()| b.add_block());
    let own = b.add_param(join, Type::I64).unwrap();
    let n = b.param(1);
    b.def_var(x, b.const_i64(1)).unwrap();
    b.terminate(branch(b.param(0), (join, &[n]), (other, &[]))).unwrap();
    let late = b.add_param(join, Type::I64).unwrap_err();
    let want = "^3 of @f gets its parameters before edges enter it and variables are read in it";
    assert_eq!(late.message(), want);
    b.switch_to(other).unwrap();
    let wrong = b.terminate(jump(join, &[])).unwrap_err();
    assert_eq!(wrong.message(), "the edge to ^3 passes 0 arguments, ^3 has 1 parameter");
    b.def_var(x, b.const_i64(2)).unwrap();
    b.terminate(jump(join, &[n])).unwrap();
    b.switch_to(join).unwrap();
    let sum = add(own, b.use_var_of(x));
    let sum = b.push(sum).unwrap();
    b.terminate(ret(sum)).unwrap();
    let f = checked(b.finish().unwrap());
    assert!(f.to_string().contains("br %1, ^3(%2, 1), ^2"), "{f}");
    assert!(f.to_string().contains("br ^3(%2, 2)\n^3(%3: i64, %x: i64):"), "{f}");
}

#[test]
fn code_that_is_not_reached_may_use_variables() {
    let mut b = FunctionBuilder::new(&context(), "f", &[Type::I64], Type::I64);
    let x = b.declare_var("x", Type::I64);
    b.terminate(ret(b.param(0))).unwrap();
    let [dead, around] = [(); 2].map(|()| b.add_block());
    b.seal(dead).unwrap();
    b.switch_to(dead).unwrap();
    assert!(b.is_unreachable());
    let value = b.use_var_of(x);
    let next = b.push(add(value, value)).unwrap();
    b.def_var(x, next).unwrap();
    b.terminate(jump(around, &[])).unwrap();
    // A loop that nothing enters.
    b.switch_to(around).unwrap();
    let value = b.use_var_of(x);
    b.push(print(value)).unwrap();
    b.terminate(jump(around, &[])).unwrap();
    checked(b.finish().unwrap());
}

#[test]
fn a_cycle_that_only_leads_to_itself_ends() {
    let mut b = FunctionBuilder::new(&context(), "f", &[Type::I64], Type::I64);
    let x = b.declare_var("x", Type::I64);
    b.terminate(ret(b.param(0))).unwrap();
    let [first, second] = [(); 2].map(|()| b.add_block());
    b.switch_to(first).unwrap();
    b.terminate(jump(second, &[])).unwrap();
    b.switch_to(second).unwrap();
    b.terminate(jump(first, &[])).unwrap();
    b.seal(first).unwrap();
    b.seal(second).unwrap();
    let value = b.use_var_of(x);
    assert!(value.as_value().is_some());
    checked(b.finish().unwrap());
}

#[test]
fn a_variable_of_type_any_takes_everything_and_keeps_its_type_where_values_meet() {
    let mut b = FunctionBuilder::new(&context(), "f", &[Type::ANY, Type::BOOL], Type::ANY);
    let x = b.declare_var("x", Type::ANY);
    let [head, exit] = [(); 2].map(|()| b.add_block());
    b.def_var(x, b.const_f64(0.5)).unwrap();
    b.terminate(jump(head, &[])).unwrap();
    b.switch_to(head).unwrap();
    // Where `x` is a parameter of type `any`, this fits; `0.5 + 1` would not.
    let value = b.use_var_of(x);
    let sum = b.push(add(value, b.param(0))).unwrap();
    b.push(print(sum)).unwrap();
    b.terminate(branch(b.param(1), (head, &[]), (exit, &[]))).unwrap();
    b.switch_to(exit).unwrap();
    let value = b.use_var_of(x);
    b.terminate(ret(value)).unwrap();
    let f = checked(b.finish().unwrap());
    assert!(f.to_string().contains("br ^2(0.5)\n^2(%x: any):"), "{f}");
}

#[test]
fn blocks_that_are_never_entered_nor_filled_are_not_there_in_the_end() {
    let mut b = FunctionBuilder::new(&context(), "f", &[Type::I64], Type::I64);
    b.add_block();
    b.terminate(ret(b.param(0))).unwrap();
    assert_eq!(checked(b.finish().unwrap()).block_count(), 1);
}

// --- what is refused -------------------------------------------------------------------------

fn kind_and_text<T: std::fmt::Debug>(result: IrResult<T>) -> (IrErrorKind, String) {
    let error = result.unwrap_err();
    (error.kind(), error.message().to_owned())
}

#[test]
fn a_variable_that_is_not_assigned_on_some_way_is_named() {
    let mut b = FunctionBuilder::new(&context(), "f", &[Type::BOOL, Type::I64], Type::I64);
    let x = b.declare_var("x", Type::I64);
    let text = "^1 of @f reads the variable `x`, which is not assigned before";
    assert_eq!(kind_and_text(b.use_var(x)), (IrErrorKind::Unsuitable, text.to_owned()));
    let [then, join] = [(); 2].map(|()| b.add_block());
    b.terminate(branch(b.param(0), (then, &[]), (join, &[]))).unwrap();
    b.switch_to(then).unwrap();
    b.def_var(x, b.param(1)).unwrap();
    b.terminate(jump(join, &[])).unwrap();
    b.switch_to(join).unwrap();
    let value = b.use_var_of(x);
    b.terminate(ret(value)).unwrap();
    let text = "^3 of @f needs the variable `x`, which is not assigned on every way there";
    assert_eq!(kind_and_text(b.finish()), (IrErrorKind::Unsuitable, text.to_owned()));
}

#[test]
fn a_variable_that_a_loop_reads_before_anything_assigns_it_is_named() {
    let (mut b, [head, body, exit]) = in_loop(&[Type::BOOL]);
    let x = b.declare_var("x", Type::I64);
    b.terminate(jump(head, &[])).unwrap();
    b.switch_to(head).unwrap();
    let value = b.use_var_of(x);
    b.terminate(branch(b.param(0), (body, &[]), (exit, &[]))).unwrap();
    b.switch_to(body).unwrap();
    b.terminate(jump(head, &[])).unwrap();
    b.switch_to(exit).unwrap();
    b.terminate(ret(value)).unwrap();
    let text = "^2 of @f needs the variable `x`, which is not assigned on every way there";
    assert_eq!(kind_and_text(b.finish()), (IrErrorKind::Unsuitable, text.to_owned()));
}

#[test]
fn misuse_is_refused_by_name_and_changes_nothing() {
    let mut b = FunctionBuilder::new(&context(), "f", &[Type::I64], Type::I64);
    let mut other = FunctionBuilder::new(b.ctx(), "g", &[Type::F64], Type::F64);
    let (x, y) = (b.declare_var("x", Type::I64), other.declare_var("y", Type::F64));
    let foreign = "variable 0 is one of another function than @f";
    let (f, foreign_value) = (b.param(0), other.param(0));
    assert_eq!(kind_and_text(b.use_var(y)), (IrErrorKind::ForeignValue, foreign.to_owned()));
    assert_eq!(kind_and_text(b.def_var(y, f)), (IrErrorKind::ForeignValue, foreign.to_owned()));
    let (kind, text) = kind_and_text(b.def_var(x, foreign_value));
    assert_eq!(kind, IrErrorKind::ForeignValue);
    assert_eq!(text, "%1 is a value of another function than @f");
    let (kind, text) = kind_and_text(b.def_var(x, b.const_f64(1.5)));
    assert_eq!(kind, IrErrorKind::Mismatch);
    assert_eq!(text, "1.5 of type f64 cannot be given to the variable `x` of type i64");
    let block = b.add_block();
    assert_eq!(
        kind_and_text(b.switch_to(other.add_block())).1,
        "^2 is a block of another function than @f"
    );
    let entry = b.block();
    assert_eq!(
        kind_and_text(b.terminate(jump(entry, &[f]))).1,
        "^1 of @f is sealed (the entry block always is), no edge can be added to it"
    );
    assert!(!b.is_ended());
    b.terminate(ret(f)).unwrap();
    let ended = "^1 of @f has its terminator already: switch to another block first";
    assert_eq!(kind_and_text(b.push(add(f, f))).1, ended);
    assert_eq!(kind_and_text(b.terminate(ret(f))).1, ended);
    assert_eq!(kind_and_text(b.def_var(x, f)).1, ended);
    b.switch_to(block).unwrap();
    assert_eq!(kind_and_text(b.finish()).1, "^2 of @f has no terminator yet");
}

// --- random programs -------------------------------------------------------------------------

/// Marsaglia's xorshift.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % n
    }
}

/// The statement of a block: `vars[to] = vars[a] + vars[b]`, or `+ k` without `b`.
#[derive(Clone, Copy)]
struct Assign {
    to: usize,
    a: usize,
    b: Result<usize, i64>,
}

#[derive(Clone, Copy)]
enum End {
    Jump(usize),
    /// Branches on `vars[0] < vars[1]`.
    Branch(usize, usize, usize, usize),
    Return(usize),
}

const VARS: usize = 4;
const STEPS: usize = 60;

fn random_program(random: &mut Random) -> Vec<(Vec<Assign>, End)> {
    let n = 1 + random.below(9);
    // Nothing branches to the entry.
    let target = |random: &mut Random| 1 + random.below(n.max(2) - 1);
    (0..n)
        .map(|_| {
            let assigns = (0..random.below(4)).map(|_| Assign {
                to: random.below(VARS),
                a: random.below(VARS),
                b: match random.below(3) {
                    0 => Ok(random.below(VARS)),
                    // A copy.
                    1 => Err(0),
                    _ => Err(random.below(5) as i64 - 2),
                },
            });
            let assigns = assigns.collect();
            let end = match random.below(7) {
                _ if n == 1 => End::Return(random.below(VARS)),
                0 => End::Return(random.below(VARS)),
                1 | 2 => End::Jump(target(random)),
                _ => End::Branch(
                    random.below(VARS),
                    random.below(VARS),
                    target(random),
                    target(random),
                ),
            };
            (assigns, end)
        })
        .collect()
}

/// Runs the program; `None` if it takes too many steps.
fn run_program(program: &[(Vec<Assign>, End)], args: [i64; VARS]) -> Option<i64> {
    let (mut vars, mut at) = (args, 0);
    for _ in 0..STEPS {
        let (assigns, end) = &program[at];
        for &Assign { to, a, b } in assigns {
            vars[to] = vars[a].wrapping_add(b.map_or_else(|k| k, |b| vars[b]));
        }
        at = match *end {
            End::Return(v) => return Some(vars[v]),
            End::Jump(to) => to,
            End::Branch(a, b, yes, no) => {
                if vars[a] < vars[b] {
                    yes
                } else {
                    no
                }
            }
        };
    }
    None
}

fn build(program: &[(Vec<Assign>, End)], random: &mut Random) -> Function {
    let types = [Type::I64; VARS];
    let mut b = FunctionBuilder::new(&context(), "f", &types, Type::I64);
    let vars = [0, 1, 2, 3].map(|i| b.declare_var(["a", "b", "c", ""][i], Type::I64));
    for (i, &var) in vars.iter().enumerate() {
        b.def_var(var, b.param(i)).unwrap();
    }
    let mut blocks = vec![b.block()];
    blocks.extend((1..program.len()).map(|_| b.add_block()));
    // Blocks are filled in any order, and sealed at any time after all that lead to them are.
    let mut order: Vec<usize> = (1..program.len()).collect();
    for i in (1..order.len()).rev() {
        order.swap(i, random.below(i + 1));
    }
    order.insert(0, 0);
    let targets = |end: End| match end {
        End::Return(_) => vec![],
        End::Jump(to) => vec![to],
        End::Branch(_, _, yes, no) => vec![yes, no],
    };
    for (done, &i) in order.iter().enumerate() {
        b.switch_to(blocks[i]).unwrap();
        let (assigns, end) = &program[i];
        for &Assign { to, a, b: with } in assigns {
            let x = b.use_var_of(vars[a]);
            let value = match with {
                Err(0) => x,
                Err(k) => b.push(add(x, b.const_i64(k))).unwrap().into(),
                Ok(with) => {
                    let y = b.use_var_of(vars[with]);
                    b.push(add(x, y)).unwrap().into()
                }
            };
            b.def_var(vars[to], value).unwrap();
        }
        match *end {
            End::Return(v) => {
                let value = b.use_var_of(vars[v]);
                b.terminate(ret(value)).unwrap();
            }
            End::Jump(to) => b.terminate(jump(blocks[to], &[])).unwrap(),
            End::Branch(x, y, yes, no) => {
                let (x, y) = (b.use_var_of(vars[x]), b.use_var_of(vars[y]));
                let less = b.push(lt(x, y)).unwrap();
                b.terminate(branch(less, (blocks[yes], &[]), (blocks[no], &[]))).unwrap();
            }
        }
        for (j, &block) in blocks.iter().enumerate() {
            let ready = (0..program.len())
                .filter(|&from| targets(program[from].1).contains(&j))
                .all(|from| order[..=done].contains(&from));
            if ready && random.below(2) == 0 {
                b.seal(block).unwrap();
            }
        }
    }
    b.finish().unwrap()
}

/// Runs a function of the small dialect; `None` if it takes too many steps.
fn run_function(f: &Function, args: [i64; VARS]) -> Option<i64> {
    let mut values = vec![0; f.value_capacity()];
    let eval = |values: &[i64], operand: Operand| match f.constant(operand) {
        Some(Constant::I64(k)) => k,
        Some(_) => unreachable!("there are no others"),
        None => values[operand.as_value().unwrap().index()],
    };
    let (mut block, mut passed) = (f.entry().unwrap(), args.to_vec());
    for _ in 0..STEPS {
        let params: Vec<Value> = f.params(block).collect();
        for (param, value) in params.into_iter().zip(passed) {
            values[param.index()] = value;
        }
        for v in f.body(block) {
            let [x, y] = [0, 1].map(|i| eval(&values, f.operand(v, i).unwrap()));
            values[v.index()] =
                if f.op(v) == Some(ADD) { x.wrapping_add(y) } else { i64::from(x < y) };
        }
        let term = f.terminator(block).unwrap();
        let first = f.plain_operands(term).next().map(|operand| eval(&values, operand));
        if f.op(term) == Some(RETURN) {
            return first;
        }
        let taken = usize::from(first == Some(0));
        let edge = f.out_edges(block).nth(taken).unwrap();
        passed = f.edge_args(edge).map(|arg| eval(&values, arg)).collect();
        block = f.edge_target(edge);
    }
    None
}

#[test]
fn built_functions_compute_what_their_variables_say() {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut returned = 0;
    for case in 0..3000 {
        let program = random_program(&mut random);
        let f = build(&program, &mut random);
        f.check_invariants().unwrap_or_else(|error| panic!("case {case}: {error}\n{f}"));
        verify_function(&f).unwrap_or_else(|errors| panic!("case {case}: {errors:?}\n{f}"));
        for _ in 0..3 {
            let args = [(); VARS].map(|()| random.below(9) as i64 - 4);
            let want = run_program(&program, args);
            assert_eq!(run_function(&f, args), want, "case {case} on {args:?}\n{f}");
            returned += u32::from(want.is_some());
        }
        // Built in another order, sealed at other times.
        let again = build(&program, &mut random);
        let args = [3, 1, -2, 0];
        assert_eq!(run_function(&again, args), run_program(&program, args), "case {case}");
    }
    assert!(returned > 2000, "{returned}");
}
