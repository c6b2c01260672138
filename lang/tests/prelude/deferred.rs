//! What the prelude defines is defined when somebody asks for it, and nobody can tell.

use regraft_ir::{Context, Symbol};
use regraft_lang::{Session, StartUp};

/// Types that nothing else in the prelude mentions, and functions with methods for them.
const OWN: &str = r#"
abstract type Shape end
struct Square <: Shape
    side::Float64
end
struct Pairing{A, B}
    first::A
    second::B
end
const SquarePairing = Pairing{Square, Square}
kind(x) = "something"
kind(x::Shape) = "a shape"
kind(x::Square) = "a square"
kind(x::Pairing) = "a pair"
kind(x::Pairing, y::Int64 = 1) = "a pair"
kind(::Type{Square}) = "the type of squares"
kind(::typeof(area)) = "the area"
area(s::Square) = s.side^2
area(p::Pairing) = area(p.first) + area(p.second)
twice(p::SquarePairing) = 2area(p)
(s::Square)(x) = s.side * x
Square(a::Int64, b::Int64) = Square(Float64(a * b))
struct Nowhere end
const nowhere = __new(Nowhere)
const anywhere = nowhere
const Sides = Union{Square, Int64}
either(x::Union{Square, Pairing}) = "a shape"
either(x::T, y::T) where {T<:Sides} = "two sides"
"#;

fn session() -> Session {
    let mut extensions = regraft_ad::extensions();
    extensions.edit::<StartUp>().file("own.jl", OWN);
    Session::new(&Context::with_extensions(&extensions.into()))
}

/// Returns whether nobody has asked for a name of the prelude.
fn is_deferred(session: &mut Session, name: &str) -> bool {
    let name: Symbol = session.ctx().symbol(name);
    session.with_world(|world| world.is_deferred(name))
}

fn shown(session: &mut Session, text: &str) -> String {
    match session.eval(text) {
        Ok(value) => session.show(&value),
        Err(errors) => errors.iter().map(ToString::to_string).collect(),
    }
}

#[test]
fn a_type_is_declared_when_its_name_is_asked_for() {
    let mut session = session();
    assert_eq!(shown(&mut session, "kind(1)"), "\"something\"");
    for name in ["Square", "Shape", "Pairing", "area"] {
        assert!(is_deferred(&mut session, name), "{name}");
    }
    assert_eq!(shown(&mut session, "area(Square(3.0))"), "9.0");
    assert!(!is_deferred(&mut session, "Shape"), "it is above squares");
    // A method of `area` takes pairs, of which there are none.
    assert!(is_deferred(&mut session, "Pairing"));
    assert_eq!(shown(&mut session, "area(Pairing(Square(3.0), Square(1, 4)))"), "25.0");
    assert_eq!(shown(&mut session, "twice(Pairing(Square(3.0), Square(1, 4)))"), "50.0");
    assert_eq!(shown(&mut session, "Square(2.0)(1.5)"), "3.0");
}

#[test]
fn a_call_is_the_same_before_and_after_a_type_is_known() {
    for types in [&["kind(1)", "kind(2.0)"][..], &["Square(1.0)", "Pairing(1, 2)", "area"], &[]] {
        let mut session = session();
        for text in types {
            shown(&mut session, text);
        }
        assert_eq!(shown(&mut session, "kind(Square)"), "\"the type of squares\"");
        assert_eq!(shown(&mut session, "kind(area)"), "\"the area\"");
        assert_eq!(shown(&mut session, "kind(Square(1.0))"), "\"a square\"");
        assert_eq!(shown(&mut session, "kind(Pairing(1, 2))"), "\"a pair\"");
        assert_eq!(shown(&mut session, "kind(Pairing(1, 2), 3)"), "\"a pair\"");
        assert_eq!(shown(&mut session, "SquarePairing === Pairing{Square, Square}"), "true");
    }
}

#[test]
fn code_for_any_argument_knows_the_types_that_come_later() {
    let mut session = session();
    let definition = "kinds(list) = join([kind(x) for x in list], \", \")";
    session.run("kinds.jl", definition).expect("it is right");
    assert_eq!(shown(&mut session, "kinds(Any[1, 2.0])"), "\"something, something\"");
    // The name comes up while the compiled code runs.
    session
        .run(
            "late.jl",
            "function late(name)
                 list = Any[1]
                 text = kinds(list)
                 push!(list, eval(name)(3.0))
                 text * \"; \" * kinds(list) * \"; \" * kind(list[2])
             end",
        )
        .expect("it is right");
    let expected = "\"something; something, a square; a square\"";
    assert_eq!(shown(&mut session, "late(Symbol(\"Squ\", \"are\"))"), expected);
}

#[test]
fn constants_are_bound_when_their_names_are_asked_for() {
    let mut session = session();
    assert!(is_deferred(&mut session, "nowhere") && is_deferred(&mut session, "anywhere"));
    assert_eq!(shown(&mut session, "f(x::typeof(anywhere)) = x === nowhere"), "f");
    assert!(!is_deferred(&mut session, "nowhere") && !is_deferred(&mut session, "Nowhere"));
    assert_eq!(shown(&mut session, "f(anywhere), Base.nowhere"), "(true, Nowhere())");
    let value = session.value_of("anywhere").expect("it has a value");
    assert_eq!(session.show(&value), "Nowhere()");
}

#[test]
fn texts_tell_of_unions_and_bounds_which_calls_methods_are_for() {
    let mut session = session();
    assert!(is_deferred(&mut session, "Sides"));
    assert_eq!(shown(&mut session, "either(1, 2)"), "\"two sides\"");
    assert!(!is_deferred(&mut session, "Sides") && is_deferred(&mut session, "Pairing"));
    assert_eq!(shown(&mut session, "either(Pairing(1, 2))"), "\"a shape\"");
    assert_eq!(shown(&mut session, "either(Square(1.0), Square(2.0))"), "\"two sides\"");
}

#[test]
fn methods_that_calls_do_not_mean_are_not_parsed() {
    let mut session = session();
    assert_eq!(shown(&mut session, "1 + 2"), "3");
    assert!(is_deferred(&mut session, "+"), "there are sums of arrays, too");
    assert_eq!(shown(&mut session, "[1, 2] + [3, 4]"), "[4, 6]");
    let all = session.methods_of("+").expect("it is a function").methods.len();
    assert!(!is_deferred(&mut session, "+") && all > 20, "{all}");
}

/// The first of two methods for the same arguments is replaced, whichever is parsed first.
#[test]
fn methods_replace_others_in_the_order_of_the_text() {
    const TWICE: &str = "written(x::Int64) = \"the first\"\n\
                         written(x::Union{Int64}) = \"the second\"\n\
                         written(x, y) = \"two\"\n";
    let mut extensions = regraft_ad::extensions();
    extensions.edit::<StartUp>().file("own.jl", TWICE);
    let mut session = Session::new(&Context::with_extensions(&extensions.into()));
    // The text of the second does not tell that it is not for this.
    let error = shown(&mut session, "written(1.0)");
    assert!(error.contains("no method matching"), "{error}");
    assert_eq!(shown(&mut session, "written(1)"), "\"the second\"");
    let mut session = Session::new(&Context::with_extensions(session.ctx().extensions()));
    shown(&mut session, "try written(1.0) catch end");
    assert_eq!(shown(&mut session, "written(1), written(1, 2)"), "(\"the second\", \"two\")");
}

#[test]
fn lists_of_methods_and_names_are_complete() {
    let mut session = session();
    let list = session.methods_of("kind").expect("it is a function");
    let places: Vec<String> = list.methods.iter().map(|line| line.place.clone()).collect();
    assert_eq!(list.methods.len(), 7, "{list}");
    assert!(places.iter().all(|place| place.starts_with("Base own.jl:")), "{list}");
    assert!(session.names().contains(&"SquarePairing".to_owned()));

    let mut session = self::session();
    let error = shown(&mut session, "area(1)");
    assert!(error.contains("no method matching area(::Int64)"), "{error}");
    let errors = session.eval("area(1)").expect_err("there is no such method");
    let text = regraft_ir::render_all(&errors, false);
    assert!(text.contains("area(s::Square)") && text.contains("area(p::Pairing"), "{text}");
    let text = shown(&mut session, "f(x::Sqare) = 1");
    assert!(text.contains("`Sqare` is not defined"), "{text}");
    let errors = session.eval("f(x::Sqare) = 1").expect_err("there is no such type");
    assert!(regraft_ir::render_all(&errors, false).contains("did you mean `Square`?"));
}

#[test]
fn what_a_program_defines_shadows_what_nobody_has_asked_for() {
    let mut session = session();
    let text = "struct Square\n    name::String\nend\nkind(x::Square) = x.name";
    session.run("own.jl", text).expect("a program may have a type of that name");
    assert_eq!(shown(&mut session, "kind(Square(\"mine\"))"), "\"mine\"");
    assert_eq!(shown(&mut session, "Base.kind(Base.Square(1.0))"), "\"a square\"");
    assert_eq!(shown(&mut session, "Square(\"mine\") isa Base.Square"), "false");
}
