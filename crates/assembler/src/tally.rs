//! Is a stream of values cumulative, each the whole text so far, or are they deltas? (`FORMATS.md` F.4)

use teeline_finding::Place;

use crate::text::count_chars;

/// How many changes of earlier text are remembered until it is known that they are some.
const REMEMBERED: usize = 16;

/// What is counted over the values of one part; no value is kept.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    values: u64,
    extended: u64,
    same: u64,
    rewritten: u64,
    first_chars: u64,
    last_chars: u64,
    counted: Counted,
    /// Where values did not begin with the one before, and after how many characters that they share.
    changes: Vec<(Place, u64)>,
}

/// What the counts of tokens say that come with the values.
#[derive(Clone, Debug, Default)]
struct Counted {
    values: u64,
    newest: u64,
    /// Values that came although no token had: a delta needs one.
    unpaid: u64,
    /// Values equal to the one before although tokens had come: text so far would have grown.
    idle: u64,
}

impl Tally {
    /// Counts a value; `before` is the one before it. Empty values do not count. `tokens`: how many
    /// there were of the answer by then. With a `place`, a change of earlier text is remembered.
    pub(crate) fn add(
        &mut self,
        before: &[u8],
        value: &[u8],
        tokens: Option<u64>,
        place: Option<Place>,
    ) {
        if value.is_empty() {
            return;
        }
        self.values += 1;
        self.last_chars = count_chars(value);
        let known = self.counted.values;
        let grew = tokens.map(|tokens| tokens > self.counted.newest);
        if let Some(tokens) = tokens {
            self.counted.values += 1;
            self.counted.newest = self.counted.newest.max(tokens);
        }
        if self.values == 1 {
            self.first_chars = self.last_chars;
            return;
        }
        if known > 0 && grew == Some(false) {
            self.counted.unpaid += 1;
        }
        let common = common_prefix(before, value);
        if common == before.len() && common == value.len() {
            self.same += 1;
            self.counted.idle += u64::from(grew == Some(true));
        } else if common == before.len() {
            self.extended += 1;
        } else {
            if common < value.len() && is_rewrite(before, value, common) {
                self.rewritten += 1;
            }
            if let Some(place) = place.filter(|_| self.changes.len() < REMEMBERED) {
                let at = before.get(..common).map_or(0, count_chars);
                self.changes.push((place, at));
            }
        }
    }

    /// How many values that are not empty came.
    pub(crate) fn values(&self) -> u64 {
        self.values
    }

    /// What speaks for a cumulative stream, if it passes the test.
    pub(crate) fn evidence(&self) -> Option<String> {
        (self.values > 1 && (self.passes() || self.passes_by_tokens())).then(|| self.words())
    }

    /// Whether the values would rather be deltas: most of them are no change of the one before, or some
    /// stayed as they were while tokens came.
    pub(crate) fn is_delta(&self) -> bool {
        let pairs = self.values.saturating_sub(1);
        let different = pairs - self.extended - self.same - self.rewritten;
        pairs > 0 && (2 * different >= pairs || self.counted.idle > self.counted.unpaid)
    }

    /// How many values begin with the one before.
    pub(crate) fn words(&self) -> String {
        let pairs = self.values.saturating_sub(1);
        format!("{} of {pairs} begin with the one before", self.extended + self.same)
    }

    /// Takes the changes of earlier text out.
    pub(crate) fn take_changes(&mut self) -> Vec<(Place, u64)> {
        std::mem::take(&mut self.changes)
    }

    fn passes(&self) -> bool {
        let pairs = self.values.saturating_sub(1);
        if self.values < 3 {
            return self.extended == 1 && self.first_chars >= 12;
        }
        10 * (self.extended + self.same + self.rewritten) >= 9 * pairs
            && self.extended >= 2
            && 2 * self.last_chars >= 3 * self.first_chars + 16
    }

    /// The tie-break: short texts, of which every value begins with the one before.
    fn passes_by_tokens(&self) -> bool {
        let counted = &self.counted;
        counted.values == self.values
            && self.extended > 0
            && self.extended + self.same + 1 == self.values
            && (counted.unpaid > counted.idle || (self.extended >= 2 && counted.idle == 0))
    }
}

/// At least eight characters, or half of the shorter value, are kept.
fn is_rewrite(before: &[u8], value: &[u8], common: usize) -> bool {
    let kept = before.get(..common).map_or(0, count_chars);
    let shorter = count_chars(before).min(count_chars(value));
    kept >= 8.max(shorter.div_ceil(2))
}

/// How many bytes two texts share at their start, cut back to a whole character.
pub(crate) fn common_prefix(one: &[u8], other: &[u8]) -> usize {
    let mut common = one.iter().zip(other).take_while(|(a, b)| a == b).count();
    let continues = |text: &[u8], at: usize| text.get(at).is_some_and(|byte| byte & 0xc0 == 0x80);
    while common > 0 && (continues(one, common) || continues(other, common)) {
        common -= 1;
    }
    common
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally(values: &[&str]) -> Tally {
        let mut tally = Tally::default();
        let mut before = "";
        for value in values {
            tally.add(before.as_bytes(), value.as_bytes(), None, None);
            if !value.is_empty() {
                before = value;
            }
        }
        tally
    }

    /// The vectors of `FORMATS.md` F.4 (without the known formats) and of the cases.
    #[test]
    fn decides_as_written() {
        for (values, cumulative) in [
            (&["Hel", "Hello", "Hello!"][..], false),
            (&["Hel", "lo", "!"], false),
            (&["ha", "ha", "haha"], false),
            (&["Hel", "Hello wo", "Hello world, how", "Hello world, how are you"], true),
            (&["a", "ab", "aabab", " ha", " ha"], false),
            (&["a long start", "", "a long start and more"], true),
            (&["short", "short and more"], false),
            (
                &[
                    "The answer is 41 and",
                    "The answer is 42 and more",
                    "The answer is 42 and more to come",
                    "The answer is 42 and more to come now and then",
                ],
                true,
            ),
        ] {
            assert_eq!(tally(values).evidence().is_some(), cumulative, "{values:?}");
        }
    }

    /// Short texts are told apart by the tokens that were counted with them.
    #[test]
    fn tokens_break_ties() {
        for (values, cumulative) in [
            (&[("Hel", 1), ("Hello", 2), ("Hello", 2)][..], true),
            (&[("1", 1), ("1,", 2), ("1, ", 3)], true),
            (&[("ha", 1), ("ha", 2), ("haha", 4)], false),
            (&[("Hel", 1), ("Hello", 2)], false),
            (&[("Hel", 1), ("lo", 2), ("!", 3)], false),
            (&[("a", 1), ("ab", 2), ("b", 3), ("bc", 4)], false),
        ] {
            let mut tally = Tally::default();
            let mut before = "";
            for (value, tokens) in values {
                tally.add(before.as_bytes(), value.as_bytes(), Some(*tokens), None);
                before = value;
            }
            assert_eq!(tally.evidence().is_some(), cumulative, "{values:?}");
        }
    }

    #[test]
    fn a_prefix_ends_between_characters() {
        assert_eq!(common_prefix("aé".as_bytes(), "aè".as_bytes()), 1);
        assert_eq!(common_prefix("aé".as_bytes(), "aéb".as_bytes()), 3);
    }
}
