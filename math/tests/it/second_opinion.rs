//! Results beside those of other libraries.

#[path = "../../examples/second_opinion/opinions.rs"]
mod opinions;

use crate::Random;

#[test]
fn other_libraries_agree_to_their_accuracy() {
    let mut random = Random(9);
    for opinion in opinions::ALL {
        let worst = opinion.compare(100_000, &mut || random.unit());
        assert!(worst.ulps <= opinion.limit, "{worst}");
    }
}
