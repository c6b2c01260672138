//! Objects that are shared, cycles, elements that are not defined, and what is large.

use regraft_exec::Val;
use regraft_exec::value::{Array, ElementType, egal, same};
use regraft_ir::Type;

use crate::*;

#[test]
fn what_is_shared_in_a_value_is_shared_in_what_is_made_of_it() {
    let f = Fixture::new();
    for value in
        [twice(&[1.0, 2.0]), Val::tuple([Val::Unit, values(ElementType::ANY, &[twice(&[1.0])])])]
    {
        for made in made(&f, &value) {
            let pair = match part(&made, 1) {
                Val::Array(array) if array.element() == Type::ANY => array.get(0).expect("a pair"),
                _ => made.clone(),
            };
            assert!(egal(&part(&pair, 0), &part(&pair, 1)), "{}", f.show(&made));
            assert!(!egal(&made, &value), "{} is not new", f.show(&made));
        }
    }
    // Two arrays that look alike stay two.
    let apart = Val::tuple([floats(&[1.0]), floats(&[1.0])]);
    for made in made(&f, &apart) {
        assert!(!egal(&part(&made, 0), &part(&made, 1)), "{}", f.show(&made));
    }
}

#[test]
fn a_ring_has_a_ring_as_its_tangent() {
    let f = Fixture::new();
    let value = ring(&f, &[1.0, 2.0, 3.0]);
    let Val::Object(first) = &value else { panic!("it is an object") };
    for made in made(&f, &value) {
        let next = |node: &Val| match node {
            Val::Object(node) => node.get(1).expect("it has two fields"),
            other => part(other, 1),
        };
        let second = next(&made);
        assert!(!egal(&second, &made) && !egal(&next(&second), &made));
        assert!(egal(&next(&next(&second)), &made));
    }
    let (zero, ones) = (f.on().zero(&value).expect("zero"), f.on().zero(&value).expect("zero"));
    // Ones everywhere: the difference of the ring and one with numbers less by 1.
    let less = ring(&f, &[0.0, 1.0, 2.0]);
    f.on().accumulate(&ones, &f.on().difference(&value, &less).expect("alike")).expect("alike");
    assert_eq!(f.on().dot(&ones, &ones).expect("alike"), 3.0);
    f.on().accumulate(&zero, &ones).expect("alike");
    f.on().accumulate(&zero, &ones).expect("alike");
    assert_eq!(f.on().dot(&zero, &ones).expect("alike"), 6.0);
    // A shadow added to itself.
    f.on().accumulate(&zero, &zero).expect("alike");
    assert_eq!(f.on().dot(&zero, &zero).expect("alike"), 48.0);
    f.on().clear(&zero).expect("it is a shadow");
    assert_eq!(f.on().dot(&zero, &zero).expect("alike"), 0.0);
    assert!(same(&f.on().perturbed(&less, 1.0, &ones).expect("alike"), &value));
    assert_eq!(first.get(0).and_then(|x| x.as_f64()), Some(1.0), "the ring is as it was");
}

#[test]
fn elements_that_are_not_defined_stay_so() {
    let f = Fixture::new();
    let array = Array::new(ElementType::ANY, &[3]).expect("it is small");
    array.set(1, Val::F64(2.0));
    let value = Val::from(array);
    for made in made(&f, &value) {
        let made = made.as_array().expect("an array");
        let defined: Vec<bool> = (0..made.len()).map(|i| made.get(i).is_some()).collect();
        assert_eq!(defined, [false, true, false]);
    }
    let (x, y) = (f.on().zero(&value).expect("zero"), f.on().random(&value, 1).expect("random"));
    f.on().accumulate(&x, &y).expect("alike");
    assert!(same(&x, &y));
    f.on().clear(&x).expect("it is a shadow");
    assert_eq!(f.on().dot(&y, &x).expect("alike"), 0.0);
    assert!(x.as_array().is_some_and(|x| x.get(0).is_none() && x.get(2).is_none()));
    // What comes to an element that was not defined defines it.
    f.on()
        .accumulate(&x, &values(ElementType::ANY, &[Val::F64(1.0), Val::Unit, Val::Unit]))
        .expect("fits");
    assert!(egal(&part(&x, 0), &Val::F64(1.0)));
}

#[test]
fn an_object_that_is_shared_counts_once_and_a_value_each_time() {
    let f = Fixture::new();
    let shared = twice(&[3.0, 4.0]);
    assert_eq!(f.on().dot(&shared, &shared).expect("alike"), 25.0);
    let apart = Val::tuple([floats(&[3.0, 4.0]), floats(&[3.0, 4.0])]);
    assert_eq!(f.on().dot(&apart, &apart).expect("alike"), 50.0);
    let number = Val::tuple([Val::F64(2.0), Val::F32(0.5)]);
    let numbers = Val::tuple([number.clone(), number]);
    assert_eq!(f.on().dot(&numbers, &numbers).expect("alike"), 8.5);
    assert_eq!(f.on().dot(&Val::Unit, &numbers).expect("nothing is zero"), 0.0);
    // Added once, too.
    let shadow = f.on().zero(&shared).expect("zero");
    f.on().accumulate(&shadow, &shared).expect("alike");
    assert!(same(&part(&shadow, 0), &floats(&[3.0, 4.0])));
    f.on().accumulate(&shadow, &apart).expect("alike");
    assert!(same(&part(&shadow, 0), &floats(&[9.0, 12.0])));
}

#[test]
fn what_is_added_to_nothing_is_not_shared_with_the_shadow() {
    let f = Fixture::new();
    let shadow = values(ElementType::ANY, &[Val::Unit, Val::Unit]);
    let array = floats(&[1.0]);
    f.on()
        .accumulate(&shadow, &values(ElementType::ANY, &[array.clone(), array.clone()]))
        .expect("alike");
    let added = part(&shadow, 0);
    assert!(same(&added, &array) && !egal(&added, &array));
    assert!(egal(&added, &part(&shadow, 1)), "the same array twice");
}

#[test]
fn values_may_be_deep() {
    let f = Fixture::new();
    let depth = 30_000;
    let tuples = |x: f64| (0..depth).fold(floats(&[x]), |rest, _| Val::tuple([Val::F64(x), rest]));
    let list = |x: f64| {
        let node = |rest, _| Val::object(f.ty("Node"), [Val::F64(x), rest]);
        (0..depth).fold(Val::Unit, node)
    };
    for (value, less, numbers) in
        [(tuples(3.0), tuples(2.0), depth + 1), (list(3.0), list(2.0), depth)]
    {
        let on = f.on();
        let ones = on.difference(&value, &less).expect("they are alike");
        assert_eq!(on.dot(&ones, &ones).expect("alike"), f64::from(numbers));
        let zero = on.zero(&value).expect("zero");
        on.accumulate(&Val::tuple([zero.clone()]), &Val::tuple([ones.clone()])).expect("alike");
        assert!(same(
            &on.perturbed(&on.copy(&less).expect("copy"), 1.0, &ones).expect("alike"),
            &value
        ));
        let shadow = on.shadow(&ones).expect("it is a tangent");
        let cotangent = on.cotangent(&ones).expect("it is a tangent");
        assert!(same(&on.join(&shadow, &cotangent).expect("parts"), &ones));
        let twice = on.sum(&cotangent, &cotangent).expect("alike");
        let product = on.dot(&twice, &cotangent).expect("alike");
        assert!(product == 0.0 || product == f64::from(2 * depth), "{product}");
        on.clear(&zero).expect("it is a shadow");
        assert_eq!(on.dot(&zero, &ones).expect("alike"), 0.0);
    }
}

#[test]
fn parts_that_are_shared_many_times_are_looked_at_once() {
    let f = Fixture::new();
    // Written down, it would have 2^60 numbers.
    let value = (0..60)
        .fold(Val::tuple([Val::F64(1.0), floats(&[1.0])]), |x, _| Val::tuple([x.clone(), x]));
    for made in made(&f, &value) {
        let deepest = (0..60).fold(made, |made, _| part(&made, 1));
        assert_eq!(deepest.as_fields().map(<[Val]>::len), Some(2));
    }
    let t = f.on().zero(&value).expect("zero");
    let (shadow, cotangent) = (f.on().shadow(&t).expect("ok"), f.on().cotangent(&t).expect("ok"));
    f.on().join(&shadow, &cotangent).expect("parts");
    f.on().sum(&cotangent, &cotangent).expect("alike");
    f.on().accumulate(&t, &t).expect("alike");
    f.on().clear(&t).expect("it is a shadow");
    assert_eq!(f.on().dot(&t, &t).expect("alike"), 0.0);
}
