//! Random numbers that a seed determines: what went wrong once can be done again.

/// One stream of numbers (splitmix64: Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014).
#[derive(Clone, Debug)]
pub(crate) struct Random(u64);

impl Random {
    /// The stream of this seed and place; other places have streams of their own.
    pub(crate) fn of(seed: u64, place: &[u64]) -> Self {
        let mut random = Self(seed);
        for part in place {
            random.0 ^= part.wrapping_add(1).wrapping_mul(0xd6e8_feb8_6659_fd93);
            random.0 = random.number();
        }
        random
    }

    pub(crate) fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// From 0 to `end`, which is not among them.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.number() % end
    }

    /// From `first` to `last`, both among them.
    pub(crate) fn between(&mut self, first: u64, last: u64) -> u64 {
        first + self.below(last - first + 1)
    }

    pub(crate) fn pick<'t, T>(&mut self, from: &'t [T]) -> &'t T {
        &from[self.below(from.len() as u64) as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_and_a_place_determine_all() {
        let first = |place: &[u64]| Random::of(7, place).number();
        assert_eq!(first(&[1, 2]), first(&[1, 2]));
        assert!(first(&[1, 2]) != first(&[2, 1]) && first(&[1]) != first(&[1, 0]));
        let mut random = Random::of(7, &[]);
        let mut seen = [0; 5];
        for _ in 0..1000 {
            seen[random.between(10, 14) as usize - 10] += 1;
        }
        assert!(seen.iter().all(|count| *count > 100), "{seen:?}");
    }
}
