//! Sets of small numbers.

/// A set of small numbers, as bits. Equal sets are equal whatever was in them before.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Bits {
    /// The last word is never zero.
    words: Vec<u64>,
}

impl Bits {
    pub fn contains(&self, number: u32) -> bool {
        let word = self.words.get(number as usize / 64);
        word.is_some_and(|word| word & (1 << (number % 64)) != 0)
    }

    /// Whether it was not there.
    pub fn insert(&mut self, number: u32) -> bool {
        let at = number as usize / 64;
        if at >= self.words.len() {
            self.words.resize(at + 1, 0);
        }
        let bit = 1 << (number % 64);
        let is_new = self.words[at] & bit == 0;
        self.words[at] |= bit;
        is_new
    }

    pub fn remove(&mut self, number: u32) {
        if let Some(word) = self.words.get_mut(number as usize / 64) {
            *word &= !(1 << (number % 64));
            self.trim();
        }
    }

    pub fn clear(&mut self) {
        self.words.clear();
    }

    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    pub fn len(&self) -> usize {
        self.words
            .iter()
            .map(|word| word.count_ones() as usize)
            .sum()
    }

    pub fn add(&mut self, other: &Bits) {
        if self.words.len() < other.words.len() {
            self.words.resize(other.words.len(), 0);
        }
        for (word, other) in self.words.iter_mut().zip(&other.words) {
            *word |= other;
        }
    }

    pub fn subtract(&mut self, other: &Bits) {
        for (word, other) in self.words.iter_mut().zip(&other.words) {
            *word &= !other;
        }
        self.trim();
    }

    pub fn keep(&mut self, other: &Bits) {
        self.words.truncate(other.words.len());
        for (word, other) in self.words.iter_mut().zip(&other.words) {
            *word &= other;
        }
        self.trim();
    }

    pub fn meets(&self, other: &Bits) -> bool {
        let mut pairs = self.words.iter().zip(&other.words);
        pairs.any(|(word, other)| word & other != 0)
    }

    /// Whether all of it is in the other.
    pub fn is_within(&self, other: &Bits) -> bool {
        let more = self.words.len() > other.words.len();
        let mut pairs = self.words.iter().zip(&other.words);
        !more && pairs.all(|(word, other)| word & !other == 0)
    }

    /// The numbers, in order.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.words.iter().enumerate().flat_map(|(at, &word)| {
            let mut rest = word;
            std::iter::from_fn(move || {
                let lowest = (rest != 0).then(|| rest.trailing_zeros())?;
                rest &= rest - 1;
                Some(at as u32 * 64 + lowest)
            })
        })
    }

    fn trim(&mut self) {
        while self.words.last() == Some(&0) {
            self.words.pop();
        }
    }
}

impl Extend<u32> for Bits {
    fn extend<T: IntoIterator<Item = u32>>(&mut self, numbers: T) {
        for number in numbers {
            self.insert(number);
        }
    }
}

impl FromIterator<u32> for Bits {
    fn from_iter<T: IntoIterator<Item = u32>>(numbers: T) -> Self {
        let mut bits = Bits::default();
        bits.extend(numbers);
        bits
    }
}

#[cfg(test)]
mod tests {
    use super::Bits;

    #[test]
    fn a_set_that_lost_its_largest_equals_one_that_never_had_it() {
        let mut bits: Bits = [3, 64, 200].into_iter().collect();
        bits.remove(200);
        assert_eq!(bits, [64, 3].into_iter().collect());
        assert_eq!(bits.iter().collect::<Vec<_>>(), [3, 64]);
        bits.subtract(&[64].into_iter().collect());
        assert_eq!(bits, [3].into_iter().collect());
        assert!(bits.is_within(&[3, 9].into_iter().collect()));
        assert!(!bits.meets(&[64].into_iter().collect()));
    }
}
