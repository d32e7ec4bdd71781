//! Time stamps at the start of pasted lines (`FORMATS.md` G.9).

use crate::{frame::Stamp, text::BOM};

/// The longest stamp there is, `[2026-03-04T05:06:07.123456789+02:00]`, and one byte behind it: with
/// so many bytes of a line it is clear whether it has one.
pub(crate) const DECIDING_BYTES: usize = 38;

const NS_PER_SECOND: i128 = 1_000_000_000;
const SECONDS_PER_DAY: i64 = 86_400;
const NS_PER_DAY: i128 = SECONDS_PER_DAY as i128 * NS_PER_SECOND;

/// What was taken off a line.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Stripped {
    /// Bytes taken off its start.
    pub(crate) bytes: usize,
    /// The stamp among them.
    pub(crate) stamp: Option<Stamp>,
    /// A byte-order mark among them, which was not reported yet.
    pub(crate) bom: bool,
}

/// Takes stamps off lines, in their order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stamps {
    on: bool,
    /// A byte-order mark was taken off: there is only one.
    bom: bool,
    days: i128,
    last_time: i128,
}

impl Stamps {
    /// `on`: look for stamps at all; `bom`: a byte-order mark was taken off before them.
    pub(crate) fn new(on: bool, bom: bool) -> Self {
        Self { on, bom, ..Self::default() }
    }

    pub(crate) const fn on(&self) -> bool {
        self.on
    }

    /// Judges one line, without its line end; `number` from 1.
    pub(crate) fn strip(&mut self, line: &[u8], number: u64) -> Stripped {
        if !self.on {
            return Stripped::default();
        }
        let Some((stamp, mut bytes)) = parse(line) else { return Stripped::default() };
        // A mark right behind the first line's stamp is the body's own.
        let bom = number == 1 && line.get(bytes..).is_some_and(|rest| rest.starts_with(BOM));
        if bom {
            bytes += BOM.len();
        }
        let first = bom && !std::mem::replace(&mut self.bom, bom);
        Stripped { bytes, stamp: Some(self.roll_over(stamp)), bom: first }
    }

    /// Gives a time of day the day that it is in, counted from the first stamp's.
    const fn roll_over(&mut self, stamp: Stamp) -> Stamp {
        if stamp.dated {
            return stamp;
        }
        if stamp.ns < self.last_time - NS_PER_DAY / 2 {
            self.days += 1;
        }
        self.last_time = stamp.ns;
        Stamp { ns: stamp.ns + self.days * NS_PER_DAY, dated: false }
    }
}

/// Whether a line that starts like this may have a stamp.
pub(crate) fn may_start(line: &[u8]) -> bool {
    line.first().is_none_or(|byte| byte.is_ascii_digit() || *byte == b'[')
}

/// The stamp at the start of `line`, and how many bytes it and the blanks behind it take.
fn parse(line: &[u8]) -> Option<(Stamp, usize)> {
    let mut cursor = Cursor { rest: line };
    let bracket = cursor.eat(b'[');
    let date = cursor.date();
    let time = cursor.time()?;
    let zone = cursor.zone();
    if bracket && !cursor.eat(b']') {
        return None;
    }
    let behind = cursor.rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    if !bracket && behind == 0 && !cursor.rest.is_empty() {
        return None;
    }
    let ns = time - i128::from(zone) * NS_PER_SECOND;
    let stamp = match date {
        Some(days) => Stamp { ns: ns + i128::from(days) * NS_PER_DAY, dated: true },
        None => Stamp { ns: ns.rem_euclid(NS_PER_DAY), dated: false },
    };
    Some((stamp, line.len() - cursor.rest.len() + behind))
}

struct Cursor<'a> {
    rest: &'a [u8],
}

impl Cursor<'_> {
    fn eat(&mut self, byte: u8) -> bool {
        let eaten = self.rest.first() == Some(&byte);
        if eaten {
            self.rest = &self.rest[1..];
        }
        eaten
    }

    fn eat_any(&mut self, bytes: &[u8]) -> bool {
        bytes.iter().any(|&byte| self.eat(byte))
    }

    /// Exactly `digits` digits, no greater than `most`.
    fn number(&mut self, digits: usize, most: i64) -> Option<i64> {
        let text = self.rest.get(..digits)?;
        let value = text.iter().try_fold(0, |value, byte| {
            byte.is_ascii_digit().then(|| value * 10 + i64::from(byte - b'0'))
        })?;
        self.rest = &self.rest[digits..];
        (value <= most).then_some(value)
    }

    /// `YYYY-MM-DD` with `T`, `t` or a space: days since 1970-01-01. Nothing is eaten if it is none.
    fn date(&mut self) -> Option<i64> {
        let start = self.rest;
        let date = self.date_and_separator();
        if date.is_none() {
            self.rest = start;
        }
        date
    }

    fn date_and_separator(&mut self) -> Option<i64> {
        let year = self.number(4, 9999)?;
        let month = self.eat(b'-').then(|| self.number(2, 12))??;
        let day = self.eat(b'-').then(|| self.number(2, 31))??;
        if !self.eat_any(b"Tt ") || month == 0 || day == 0 || day > days_in(year, month) {
            return None;
        }
        Some(days_since_epoch(year, month, day))
    }

    /// `hh:mm:ss` and a fraction: nanoseconds since midnight.
    fn time(&mut self) -> Option<i128> {
        let hours = self.number(2, 23)?;
        let minutes = self.eat(b':').then(|| self.number(2, 59))??;
        let seconds = self.eat(b':').then(|| self.number(2, 59))??;
        let whole = i128::from((hours * 60 + minutes) * 60 + seconds) * NS_PER_SECOND;
        if !self.eat_any(b".,") {
            return Some(whole);
        }
        let digits = self.rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        if !(1..=9).contains(&digits) {
            return None;
        }
        let fraction = self.number(digits, i64::MAX)?;
        Some(whole + (digits..9).fold(i128::from(fraction), |ns, _| ns * 10))
    }

    /// `Z`, `+hh`, `+hhmm` or `+hh:mm`: seconds east of Greenwich, 0 if there is none.
    fn zone(&mut self) -> i64 {
        let start = self.rest;
        self.eat_any(b"Zz");
        if self.rest.len() < start.len() {
            return 0;
        }
        self.offset().unwrap_or_else(|| {
            self.rest = start;
            0
        })
    }

    fn offset(&mut self) -> Option<i64> {
        let west = self.rest.first() == Some(&b'-');
        if !self.eat_any(b"+-") {
            return None;
        }
        let hours = self.number(2, 23)?;
        let colon = self.eat(b':');
        let minutes = match self.rest.first() {
            Some(byte) if byte.is_ascii_digit() => self.number(2, 59)?,
            _ if colon => return None,
            _ => 0,
        };
        let seconds = (hours * 60 + minutes) * 60;
        Some(if west { -seconds } else { seconds })
    }
}

const fn days_in(year: i64, month: i64) -> i64 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if is_leap(year) => 29,
        2 => 28,
        _ => 31,
    }
}

const fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

/// Days from 1970-01-01, proleptic Gregorian calendar; years 0 to 9999.
fn days_since_epoch(year: i64, month: i64, day: i64) -> i64 {
    const EPOCH: i64 = 719_528; // days from 0000-01-01 to 1970-01-01
    // Leap years before this one; year 0 is one of them.
    let leap_years = (year + 3) / 4 - (year + 99) / 100 + (year + 399) / 400;
    let months: i64 = (1..month).map(|month| days_in(year, month)).sum();
    year * 365 + leap_years + months + day - 1 - EPOCH
}
