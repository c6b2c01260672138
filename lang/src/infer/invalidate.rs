//! Drops what later definitions made wrong.

use std::rc::Rc;

use regraft_ir::{Symbol, Type};

use super::inference::{Inference, Owner};
use crate::world::SpecId;

impl Inference {
    /// Drops what later definitions made wrong, and returns the names of the functions that were
    /// dropped since this was last asked, in order; `None` if none was wrong. Those that pullbacks
    /// hold are not dropped, but no call finds them any more.
    pub fn invalidate(&mut self) -> Option<Vec<Symbol>> {
        self.sync();
        let dropped = std::mem::take(&mut self.dropped);
        std::mem::take(&mut self.changed).then_some(dropped)
    }

    /// Drops what later definitions made wrong.
    pub(super) fn sync(&mut self) {
        self.sync_rules();
        self.sync_methods();
        loop {
            let invalidated = self.world.take_invalidated();
            if invalidated.is_empty() {
                return;
            }
            self.known_ops.forget();
            let oracle = Rc::clone(&self.oracle);
            let held = oracle.still_held(self, &invalidated);
            for id in invalidated {
                let owner = self.owners.get(id.0 as usize).copied().unwrap_or(Owner::Gone);
                self.own(id, Owner::Gone);
                match owner {
                    Owner::Spec => {
                        self.changed = true;
                        let name = self.find(id).and_then(|spec| spec.name);
                        match name.filter(|name| held.contains(name)) {
                            Some(_) => self.retire(id),
                            None => {
                                self.dropped.extend(name);
                                self.note_replaced(id);
                                self.drop_spec(id);
                            }
                        }
                    }
                    Owner::Lookup(index) => self.drop_lookup(index),
                    Owner::Name(name, space) => {
                        self.names.remove(&(name, space));
                    }
                    Owner::Derivation | Owner::Gone => {}
                }
            }
            // What nobody holds any more, and what was inferred of calls of it.
            let retired = std::mem::take(&mut self.retired);
            for id in retired {
                match self.find(id).and_then(|spec| spec.name) {
                    Some(name) if held.contains(&name) => self.retired.push(id),
                    Some(_) => self.world.invalidate(id),
                    None => {}
                }
            }
        }
    }

    /// Keeps the function of a specialisation for those who hold it. No call finds it any more, but
    /// by its name.
    fn retire(&mut self, old: SpecId) {
        let spec = self.specs.get_mut(old.0 as usize).and_then(Option::take);
        let Some(mut spec) = spec else { return };
        self.leave_tables(old, &spec);
        let id = self.world.new_spec();
        (spec.id, spec.method, spec.origin, spec.callee) = (id, None, None, Type::ANY);
        if let Some(name) = spec.name {
            self.by_name.insert(name, id);
        }
        self.insert_spec(spec);
        self.retired.push(id);
    }

    /// Invalidates the specialisations of methods that others took the place of.
    fn sync_methods(&mut self) {
        let replaced = self.world.take_replaced();
        if replaced.is_empty() {
            return;
        }
        for method in replaced {
            for &spec in self.specs_of.get(&method).into_iter().flatten() {
                self.world.invalidate(spec);
            }
        }
    }

    /// Invalidates what was inferred of calls for which there are rules now.
    fn sync_rules(&mut self) {
        for rule in self.world.take_new_rules() {
            self.has_rules = true;
            let of = self.world.rule_callee(rule);
            let concerns = |callee: Type| of.is_none_or(|of| of == callee);
            for lookup in &self.lookups {
                if concerns(lookup.callee) {
                    self.world.invalidate(lookup.id);
                }
            }
            for spec in self.specs.iter().flatten() {
                if concerns(spec.callee) && spec.method.is_some() {
                    self.world.invalidate(spec.id);
                }
            }
        }
    }

    fn drop_lookup(&mut self, index: u32) {
        use std::hash::BuildHasher;
        let lookup = &self.lookups[index as usize];
        let code = rustc_hash::FxBuildHasher.hash_one((lookup.callee, &*lookup.args));
        if let Ok(entry) = self.lookup_table.find_entry(code, |&i| i == index) {
            entry.remove();
        }
    }
}
