//! The effects of all ops, as a table that was reviewed: a change of one shows here.

use regraft_dialects::registry;
use regraft_ir::{OpDef, OperandSet, Traits};

/// Returns what an op does beyond computing a result: a part for each kind of effect.
fn described(def: &OpDef) -> String {
    let mut parts: Vec<String> = Vec::new();
    let effects = def.effects;
    let operands = |set: OperandSet| -> String {
        let all = (0..def.operands.len()).all(|i| set.contains(i));
        let named = def.operands.iter().enumerate().filter(|&(i, _)| set.contains(i));
        match all {
            true => "all".to_owned(),
            false => named.map(|(_, operand)| operand.name).collect::<Vec<_>>().join(" "),
        }
    };
    if effects.opaque {
        parts.push("anything".to_owned());
    } else {
        let sets = [
            ("reads", effects.reads),
            ("reads the shape of", effects.reads_shape),
            ("writes", effects.writes),
            ("writes the shape of", effects.writes_shape),
        ];
        let named = sets.into_iter().filter(|(_, set)| !set.is_empty());
        parts.extend(named.map(|(verb, set)| format!("{verb} {}", operands(set))));
        let flags = [
            (effects.deep, "with all that is reached"),
            (effects.reads_globals, "reads globals"),
            (effects.allocates, "allocates"),
            (effects.observable, "is observed"),
        ];
        parts.extend(flags.iter().filter(|flag| flag.0).map(|flag| flag.1.to_owned()));
    }
    if def.traits.contains(Traits::MAY_TRAP) {
        parts.push("may trap".to_owned());
    }
    if parts.is_empty() { "nothing".to_owned() } else { parts.join(", ") }
}

#[test]
fn the_effects_of_all_ops_are_those_of_the_table() {
    let registry = registry();
    let ops = registry.ops();
    let table: String = ops.map(|def| format!("{}: {}\n", def.name, described(def))).collect();
    let expected = include_str!("effects.txt");
    for (found, expected) in table.lines().zip(expected.lines()) {
        assert_eq!(found, expected, "the whole table:\n{table}");
    }
    assert_eq!(table.lines().count(), expected.lines().count(), "the whole table:\n{table}");
}

#[test]
fn pure_ops_touch_nothing() {
    let registry = registry();
    for def in registry.ops().filter(|def| def.traits.contains(Traits::PURE)) {
        assert_eq!(def.effects, regraft_ir::Effects::NONE, "{}", def.name);
    }
}
