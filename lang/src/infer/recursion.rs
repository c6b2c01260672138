//! Inferring a specialisation until its result is settled, and with it the group of those that
//! call each other.

use std::rc::Rc;
use std::sync::Arc;

use smallvec::SmallVec;

use super::frame::Frame;
use super::inference::Inference;
use super::lattice::Lattice;
use super::spec::{Running, State};
use crate::world::SpecId;

impl Inference {
    /// Returns the lattice value of the result of a specialisation; infers it if need be.
    pub(super) fn infer(&mut self, id: SpecId) -> Lattice {
        match self.spec(id).state {
            State::Done => {}
            State::New => stacker::maybe_grow(128 << 10, 4 << 20, || self.run(id)),
            State::Running(place) => {
                self.stack[place].was_read = true;
                self.uses_estimate(place);
            }
            State::Provisional(place) => self.uses_estimate(place),
        }
        self.spec(id).result
    }

    fn uses_estimate(&mut self, place: usize) {
        if let Some(running) = self.stack.last_mut() {
            running.low = running.low.min(place);
        }
    }

    fn run(&mut self, id: SpecId) {
        let place = self.stack.len();
        let size = if self.spec(id).method.is_some() {
            let key = std::mem::take(&mut self.spec_mut(id).key);
            let size = self.key_size(&key);
            self.spec_mut(id).key = key;
            size
        } else {
            0
        };
        let origin = self.spec(id).origin;
        let first_of_group = self.group.len();
        self.stack.push(Running { origin, low: place, was_read: false, unstable: false, size });
        loop {
            let changed = self.run_once(id, place);
            let running = &self.stack[place];
            let (low, unstable) = (running.low, running.unstable || (changed && running.was_read));
            if low < place {
                // What it is part of is settled further out.
                self.spec_mut(id).state = State::Provisional(low);
                self.group.push(id);
                self.stack.pop();
                let outer = self.stack.last_mut().expect("what was read is on the stack");
                outer.low = outer.low.min(low);
                outer.unstable |= unstable;
                return;
            }
            let state = if unstable { State::New } else { State::Done };
            while self.group.len() > first_of_group {
                let other = self.group.pop().expect("the group has members left");
                self.spec_mut(other).state = state;
                if !unstable {
                    self.settle(other);
                }
            }
            if !unstable {
                self.settle(id);
                self.stack.pop();
                return;
            }
            let running = &mut self.stack[place];
            (running.was_read, running.unstable) = (false, false);
        }
    }

    /// Settles a specialisation: what was inferred stays as it is.
    fn settle(&mut self, id: SpecId) {
        let spec = self.spec_mut(id);
        spec.state = State::Done;
        if let Some(mut frame) = spec.frame.take() {
            spec.frame = Some(frame.compact());
            self.free_frames.push(frame);
        }
    }

    /// Infers the body once; whether more is known of the result.
    fn run_once(&mut self, id: SpecId, place: usize) -> bool {
        let spec = self.spec_mut(id);
        spec.state = State::Running(place);
        let key: SmallVec<[Lattice; 4]> = spec.key.clone();
        let (space, body, order) = (spec.space, Arc::clone(&spec.body), Rc::clone(&spec.order));
        let mut frame = match (spec.frame.take(), self.free_frames.pop()) {
            (Some(mut frame), free) => {
                self.free_frames.extend(free);
                frame.clear();
                frame
            }
            (None, Some(frame)) => frame.reuse(id, space, body, order),
            (None, None) => Frame::new(id, space, body, order),
        };
        self.flow(&mut frame, &key);
        self.inferred_insts += frame.body.inst_count();
        for &on in &frame.dependencies {
            if on != id {
                self.world.depend(id, on);
            }
        }
        let old = self.spec(id).result;
        let result = self.partials.join(old, frame.result);
        let effect_free = frame.effect_free;
        let spec = self.spec_mut(id);
        spec.frame = Some(frame);
        spec.effect_free = effect_free;
        spec.result = result;
        result != old
    }
}
