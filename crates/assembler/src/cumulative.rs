//! Is a stream of values cumulative, each the whole text so far, or are they deltas? (`FORMATS.md` F.4)

use crate::text::count_chars;

/// What is counted over the values of one part; no value is kept.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    values: u64,
    extended: u64,
    same: u64,
    rewritten: u64,
    first_chars: u64,
    last_chars: u64,
}

impl Tally {
    /// Counts a value; `before` is the one before it. Empty values do not count.
    pub(crate) fn add(&mut self, before: &[u8], value: &[u8]) {
        if value.is_empty() {
            return;
        }
        self.values += 1;
        self.last_chars = count_chars(value);
        if self.values == 1 {
            self.first_chars = self.last_chars;
            return;
        }
        let common = common_prefix(before, value);
        if common == before.len() && common == value.len() {
            self.same += 1;
        } else if common == before.len() {
            self.extended += 1;
        } else if common < value.len() && is_rewrite(before, value, common) {
            self.rewritten += 1;
        }
    }

    /// How many values that are not empty came.
    pub(crate) fn values(&self) -> u64 {
        self.values
    }

    /// What speaks for a cumulative stream, if it passes the test.
    pub(crate) fn evidence(&self) -> Option<String> {
        let pairs = self.values.checked_sub(1)?;
        let cumulative = if self.values >= 3 {
            10 * (self.extended + self.same + self.rewritten) >= 9 * pairs
                && self.extended >= 2
                && 2 * self.last_chars >= 3 * self.first_chars + 16
        } else {
            self.values == 2 && self.extended == 1 && self.first_chars >= 12
        };
        cumulative
            .then(|| format!("{} of {pairs} begin with the one before", self.extended + self.same))
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
            tally.add(before.as_bytes(), value.as_bytes());
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

    #[test]
    fn a_prefix_ends_between_characters() {
        assert_eq!(common_prefix("aé".as_bytes(), "aè".as_bytes()), 1);
        assert_eq!(common_prefix("aé".as_bytes(), "aéb".as_bytes()), 3);
    }
}
