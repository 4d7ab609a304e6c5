//! Numbers for tests that try many inputs.

/// Whether tests try everything that they can, however long it takes: `SKILLPM_TEST_ALL` is set. Otherwise they try
/// a part, which is the same in each run.
pub fn tries_all() -> bool {
    std::env::var_os("SKILLPM_TEST_ALL").is_some()
}

/// Returns how many of `all` random cases a test tries: a quarter, or all of them where [`tries_all`] says so.
pub fn cases<T: From<u8> + std::ops::Div<Output = T>>(all: T) -> T {
    if tries_all() { all } else { all / T::from(4) }
}

/// Numbers that look random and are the same each time (`SplitMix64`), from a seed.
pub struct Numbers(pub u64);

impl Numbers {
    /// The next number.
    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`, which is not 0.
    pub fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.number() % end as u64).expect("below a usize")
    }

    /// One of `from`, which is not empty.
    pub fn pick<'a, T: ?Sized>(&mut self, from: &[&'a T]) -> &'a T {
        from[self.below(from.len())]
    }
}
