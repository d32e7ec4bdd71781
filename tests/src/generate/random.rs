//! Reproducible chance, and the words, values and cuts that come of it.

use serde_json::{Map, Number, Value};

/// What texts are made of: many bytes a character, many characters a grapheme, what JSON has to escape, and what looks
/// like framing without being any.
const WORDS: &[&str] = &[
    "the",
    "answer",
    "Reykjavík",
    "naïve",
    "größer",
    "Ελληνικά",
    "ответ",
    "日本語",
    "한국어",
    "שלום",
    "مرحبا",
    "नमस्ते",
    "🙂",
    "👩‍👩‍👧‍👦",
    "🇮🇸",
    "👍🏽",
    "e\u{301}",
    "𝒳",
    "\u{2028}",
    "\u{feff}",
    "\u{1}",
    "\"quoted\"",
    "back\\slash",
    "tab\there",
    "line\nbreak",
    "two\n\nbreaks",
    "carriage\r\nreturn",
    "data: no frame",
    "[DONE]",
    ": no comment",
    "{\"a\":1}",
    "<b>&amp;</b>",
    "```rust",
    "0.1",
    "</think>",
    "event: error",
];

/// A generator of numbers (`SplitMix64`).
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// Begins with a seed; `salt` keeps formats apart.
    pub fn new(seed: u64, salt: &str) -> Self {
        let salt = salt.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ salt)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number from 0 to `bound` - 1.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    /// A count from `least` to `most`.
    pub fn count(&mut self, least: u64, most: u64) -> usize {
        usize::try_from(least + self.below(most - least + 1)).expect("a small number")
    }

    /// True so many times in a hundred.
    pub fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// One of these.
    pub fn pick<'a, T: ?Sized>(&mut self, choices: &[&'a T]) -> &'a T {
        choices[self.count(0, choices.len() as u64 - 1)]
    }

    /// An id as services make them.
    pub fn id(&mut self, prefix: &str) -> String {
        format!("{prefix}{:016x}", self.next())
    }

    /// Base64 that decodes.
    pub fn base64(&mut self) -> String {
        use base64::Engine as _;
        let bytes: Vec<u8> = (0..self.count(3, 30)).map(|_| self.next().to_le_bytes()[0]).collect();
        base64::engine::general_purpose::STANDARD.encode(bytes)
    }

    /// A text of one word or more.
    pub fn text(&mut self) -> String {
        let words: Vec<&str> = (0..self.count(1, 14)).map(|_| self.pick(WORDS)).collect();
        words.join(if self.chance(80) { " " } else { "" })
    }

    /// A name that a tool or a key may have.
    pub fn name(&mut self) -> String {
        let name =
            self.pick(&["get_weather", "search", "run-code", "add", "city", "zone", "limit"]);
        if self.chance(30) { format!("{name}_{}", self.below(10)) } else { name.to_owned() }
    }

    /// An object of a depth.
    pub fn object(&mut self, depth: u64) -> Value {
        let members = (0..self.count(0, 4)).map(|_| {
            let name = if self.chance(80) { self.name() } else { self.text() };
            (name, self.value(depth))
        });
        Value::Object(members.collect::<Map<_, _>>())
    }

    /// Any JSON value of a depth. Fractions have few binary digits and integers fit a double, so that every language
    /// says the same of them.
    pub fn value(&mut self, depth: u64) -> Value {
        match self.below(if depth == 0 { 6 } else { 9 }) {
            0 | 1 => Value::String(self.text()),
            2 => Value::from(self.below(1 << 53)),
            3 => {
                let fraction = f64::from(u32::try_from(self.below(4000)).expect("it is small"))
                    / 16.0
                    + 0.0625;
                Number::from_f64(-fraction).map_or(Value::Null, Value::Number)
            }
            4 => Value::Bool(self.chance(50)),
            5 => Value::Null,
            6 | 7 => self.object(depth - 1),
            _ => (0..self.count(0, 3)).map(|_| self.value(depth - 1)).collect(),
        }
    }

    /// Cuts a text between characters, also inside a grapheme. An empty text has no pieces.
    pub fn pieces(&mut self, text: &str) -> Vec<String> {
        let longest = self.pick(&[&1, &3, &8, &40]);
        let mut pieces = Vec::new();
        let mut rest = text.chars().peekable();
        while rest.peek().is_some() {
            pieces.push(rest.by_ref().take(self.count(1, *longest)).collect());
        }
        pieces
    }

    /// Mixes sequences: each keeps its order.
    pub fn interleave<T>(&mut self, mut sequences: Vec<Vec<T>>) -> Vec<T> {
        for sequence in &mut sequences {
            sequence.reverse();
        }
        let mut mixed = Vec::new();
        while !sequences.is_empty() {
            let turn = self.count(0, sequences.len() as u64 - 1);
            match sequences[turn].pop() {
                Some(item) => mixed.push(item),
                None => drop(sequences.remove(turn)),
            }
        }
        mixed
    }
}
