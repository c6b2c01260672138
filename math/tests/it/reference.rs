//! Results beside correctly rounded ones, which `tests/reference.py` computed with arbitrary precision.

use std::collections::BTreeMap;

use regraft_math::Forms;

use crate::{same, ulps};

fn number(text: &str) -> f64 {
    if text == "nan" {
        f64::NAN
    } else {
        f64::from_bits(u64::from_str_radix(text, 16).expect("it is hexadecimal"))
    }
}

#[test]
fn results_are_correctly_rounded_or_next_to_it() {
    let mut wrong = Vec::new();
    // Of ordinary arguments: how many there are, and how many results are not correctly rounded.
    let mut counts: BTreeMap<&str, [usize; 2]> = BTreeMap::new();
    for row in include_str!("reference.txt").lines() {
        let (hard, row) = row.strip_prefix("? ").map_or((false, row), |row| (true, row));
        let mut words = row.split(' ');
        let name = words.next().expect("a row has a name");
        let numbers: Vec<f64> = words.map(number).collect();
        let (&want, args) = numbers.split_last().expect("a row has a result");
        let args: Vec<&[f64]> = args.iter().map(std::slice::from_ref).collect();
        let mut found = [0.0];
        let forms = Forms::named(name).expect("the function is known");
        forms.map_by(1, &args, &mut found).expect("every CPU has one lane");
        if ulps(found[0], want) > 1.0
            || found[0].is_sign_negative() != want.is_sign_negative() && !want.is_nan()
        {
            wrong.push(format!("{name} of {args:?}: found {found:?}, expected {want:?}"));
        }
        if !hard {
            let [all, off] = counts.entry(name).or_default();
            (*all, *off) = (*all + 1, *off + usize::from(!same(found[0], want)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let functions = Forms::all().iter().filter(|forms| forms.scalar().is_some());
    assert_eq!(counts.len(), functions.count());
    for (name, [all, off]) in counts {
        assert!(off * 50 <= all, "{off} of {all} results of {name} are not correctly rounded");
    }
}
