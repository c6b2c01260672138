//! "Did you mean": the nearest of the names that there are.

use std::cmp::Reverse;

/// The name among `candidates` that `wrong` is most likely a misspelling of, or the beginning or
/// the last part (`add` of `arith.add`) of. Deterministic: of equally near names the one that
/// begins alike wins, and among those the first.
pub fn suggest<'a>(wrong: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // Names from the user can be arbitrarily long; the distance is quadratic.
    if wrong.len() > 64 {
        return None;
    }
    // Any letter is one edit away from any other: that tells nothing.
    let limit = match wrong.chars().count() {
        0 | 1 => 0,
        count => count.div_ceil(3),
    };
    let lower = wrong.to_lowercase();
    let mut near: Option<((usize, Reverse<usize>), &str)> = None;
    let mut longer: Option<&str> = None;
    for candidate in candidates.into_iter().filter(|c| c.len() <= 64) {
        let distance = strsim::damerau_levenshtein(&lower, &candidate.to_lowercase());
        if distance <= limit {
            let alike = wrong.chars().zip(candidate.chars()).take_while(|(a, b)| a == b).count();
            let rank = (distance, Reverse(alike));
            if near.is_none_or(|(least, _)| rank < least) {
                near = Some((rank, candidate));
            }
        }
        if longer.is_none() && is_part(wrong, candidate) {
            longer = Some(candidate);
        }
    }
    near.map(|(_, name)| name).or(longer)
}

/// Returns whether `wrong` is what `name` begins with (if it is long enough to tell), or its last
/// part.
fn is_part(wrong: &str, name: &str) -> bool {
    wrong.len() >= 4 && name.starts_with(wrong)
        || name.rsplit_once('.').is_some_and(|(_, last)| last == wrong)
}

#[cfg(test)]
mod tests {
    use super::suggest;

    #[test]
    fn near_names_are_found_and_far_ones_are_not() {
        let names = ["arith.add", "arith.sub", "mem.load"];
        assert_eq!(suggest("arith.ad", names), Some("arith.add"));
        assert_eq!(suggest("mem.laod", names), Some("mem.load"));
        assert_eq!(suggest("quux", names), None);
    }

    #[test]
    fn one_letter_is_not_meant_by_another() {
        assert_eq!(suggest("z", ["I", "pi", "x"]), None);
        assert_eq!(suggest("i", ["I", "pi", "x"]), Some("I"));
    }

    #[test]
    fn of_equally_near_names_the_one_that_begins_alike_is_meant() {
        assert_eq!(suggest("call", ["all", "calls", "ops"]), Some("calls"));
        assert_eq!(suggest("x2", ["x1", "x3"]), Some("x1"));
    }

    #[test]
    fn names_are_found_by_another_case_and_by_parts() {
        let names = ["simplify-cfg", "dce", "arith.add", "core.get"];
        assert_eq!(suggest("DCE", names), Some("dce"));
        assert_eq!(suggest("simplify", names), Some("simplify-cfg"));
        assert_eq!(suggest("get", names), Some("core.get"));
        assert_eq!(suggest("s", names), None);
        assert_eq!(suggest("", names), None);
    }
}
