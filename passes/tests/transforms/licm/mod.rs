//! What leaves loops, and what has to stay.

mod calls;
mod instructions;
mod places;
mod traps;
mod whole_loops;

use regraft_passes::AllLoops;
use regraft_passes::transforms::licm::Licm;

type Pass = AllLoops<Licm>;
