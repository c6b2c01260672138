//! "Did you mean": the nearest of the names that there are.

/// The name among `candidates` that `wrong` is most likely a misspelling of. Deterministic: of
/// equally near names the first wins.
pub fn suggest<'a>(wrong: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // Names from the user can be arbitrarily long; the distance is quadratic.
    if wrong.len() > 64 {
        return None;
    }
    let limit = wrong.chars().count().div_ceil(3);
    let mut best: Option<(usize, &str)> = None;
    for candidate in candidates.into_iter().filter(|c| c.len() <= 64) {
        let distance = strsim::damerau_levenshtein(wrong, candidate);
        if distance <= limit && best.is_none_or(|(least, _)| distance < least) {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, name)| name)
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
}
