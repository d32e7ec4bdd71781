//! Text to terms.

use jiff::{Span, ToSpan as _, civil::Date, tz::TimeZone};
use teeline_finding::catalogue;

use super::{Query, QueryError, Term, Test};
use crate::summary::verdict_from_name;
use crate::{State, Timestamp};

pub(super) fn parse(text: &str, now: Timestamp) -> Result<Vec<Term>, QueryError> {
    words(text).into_iter().map(|word| term(&word, now)).collect()
}

/// A word of the query: what stood before the first colon outside of quotes, and the rest.
#[derive(Debug, PartialEq, Eq)]
struct Word {
    key: Option<String>,
    value: String,
}

/// Splits at white space outside of quotes. A quote that is not closed goes to the end.
fn words(text: &str) -> Vec<Word> {
    let mut words = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let (word, after) = word(rest);
        if word.key.is_some() || !word.value.is_empty() {
            words.push(word);
        }
        rest = after.trim_start();
    }
    words
}

fn word(text: &str) -> (Word, &str) {
    let (mut key, mut value) = (None, String::new());
    let (mut quoted, mut was_quoted) = (false, false);
    for (at, c) in text.char_indices() {
        match c {
            '"' => {
                quoted = !quoted;
                was_quoted = true;
            }
            c if c.is_whitespace() && !quoted => {
                return (Word { key, value }, text.get(at..).unwrap_or_default());
            }
            ':' if key.is_none() && !was_quoted && !value.is_empty() => {
                key = Some(std::mem::take(&mut value));
            }
            c => value.push(c),
        }
    }
    (Word { key, value }, "")
}

fn term(word: &Word, now: Timestamp) -> Result<Term, QueryError> {
    let Some(written) = &word.key else {
        return Ok(Term { excluded: false, test: Test::Text(word.value.clone()) });
    };
    let (excluded, name) = match written.strip_prefix('-') {
        Some(name) => (true, name),
        None => (false, written.as_str()),
    };
    let name = name.to_ascii_lowercase();
    let Some(key) = Query::KEYS.iter().find(|key| key.name == name) else {
        return Err(QueryError(unknown_key(&name)));
    };
    if word.value.is_empty() {
        return Err(QueryError(format!("`{name}:` needs a value, such as {}", example(key.name))));
    }
    let test = test(key.name, &word.value, now)?;
    Ok(Term { excluded, test })
}

fn unknown_key(name: &str) -> String {
    let known: Vec<String> = Query::KEYS.iter().map(|key| format!("{}:", key.name)).collect();
    format!(
        "there is no key `{name}:`; known are {}; text with a colon is searched for in quotes",
        known.join(" ")
    )
}

fn example(name: &str) -> &'static str {
    match name {
        "model" => "`model:gpt`",
        "upstream" => "`upstream:openai`",
        "format" => "`format:anthropic-messages`",
        "path" => "`path:/v1/messages`",
        "tool" => "`tool:get_weather`",
        "finding" => "`finding:any`",
        "state" => "`state:open`",
        "verdict" => "`verdict:finished`",
        "status" => "`status:4xx`",
        "streamed" => "`streamed:yes`",
        _ => "`since:2h` or `until:2026-11-29`",
    }
}

fn test(key: &'static str, value: &str, now: Timestamp) -> Result<Test, QueryError> {
    let lower = value.to_ascii_lowercase();
    let text = value.to_owned();
    match key {
        "model" => Ok(Test::Model(text)),
        "upstream" => Ok(Test::Upstream(text)),
        "path" => Ok(Test::Path(text)),
        "tool" => Ok(Test::Tool(text)),
        "format" => format(&lower),
        "finding" => finding(&lower),
        "state" => state(&lower),
        "verdict" => verdict_from_name(&lower)
            .map(Test::Verdict)
            .ok_or_else(|| unknown(key, value, &super::sql::VERDICTS)),
        "status" => status(&lower).ok_or_else(|| {
            QueryError(format!(
                "`{value}` is no status; give one such as 404, or a class such as 4xx"
            ))
        }),
        "since" => time(&lower, now, false).map(Test::Since),
        "until" => time(&lower, now, true).map(Test::Until),
        _ => match lower.as_str() {
            "yes" => Ok(Test::Streamed(true)),
            "no" => Ok(Test::Streamed(false)),
            _ => Err(unknown(key, value, &["yes", "no"])),
        },
    }
}

fn unknown(key: &str, value: &str, known: &[&str]) -> QueryError {
    QueryError(format!("`{key}:` does not know `{value}`; known are {}", known.join(" ")))
}

fn format(value: &str) -> Result<Test, QueryError> {
    let known = crate::reading::formats();
    if known.iter().any(|name| name.contains(value)) {
        return Ok(Test::Format(value.to_owned()));
    }
    Err(unknown("format", value, &known))
}

fn finding(value: &str) -> Result<Test, QueryError> {
    match value {
        "any" => return Ok(Test::AnyFinding),
        "error" => return Ok(Test::Errors),
        "warning" => return Ok(Test::Warnings),
        "note" => return Ok(Test::Notes),
        _ => {}
    }
    catalogue::entry(value).map(|entry| Test::Finding(entry.id)).ok_or_else(|| {
        let mut known = vec!["any", "error", "warning", "note"];
        known.extend(catalogue::ENTRIES.iter().map(|entry| entry.id));
        unknown("finding", value, &known)
    })
}

fn state(value: &str) -> Result<Test, QueryError> {
    if value == "broken" {
        return Ok(Test::Broken);
    }
    State::ALL
        .into_iter()
        .find(|state| state.as_str() == value)
        .map(Test::State)
        .ok_or_else(|| unknown("state", value, &super::sql::STATES))
}

fn status(value: &str) -> Option<Test> {
    if let Some(class) = value.strip_suffix("xx") {
        let class: u16 = class.parse().ok()?;
        return (1..=5).contains(&class).then_some(Test::StatusClass(class));
    }
    let status: u16 = value.parse().ok()?;
    (100..=999).contains(&status).then_some(Test::Status(status))
}

/// `2h` (ago), a date (its beginning, or its end), or a moment. Dates are local, as everything that is shown.
fn time(value: &str, now: Timestamp, end: bool) -> Result<Timestamp, QueryError> {
    ago(value, now)
        .or_else(|| date(value, end))
        .or_else(|| value.to_ascii_uppercase().parse().ok())
        .ok_or_else(|| {
            QueryError(format!(
                "`{value}` is no time; give how long ago (30s 15m 2h 7d 2w), a date (2026-11-29) or a moment (2026-11-29T08:00:00Z)"
            ))
        })
}

fn ago(value: &str, now: Timestamp) -> Option<Timestamp> {
    let unit = value.chars().last()?;
    let count: i64 = value.strip_suffix(unit)?.parse().ok().filter(|count| 0 <= *count)?;
    let seconds = match unit {
        's' => 1,
        'm' => 60,
        'h' => 3600,
        'd' => 86_400,
        'w' => 604_800,
        _ => return None,
    };
    let micros = count.checked_mul(seconds)?.checked_mul(1_000_000)?;
    Some(Timestamp::from_micros(now.as_micros().saturating_sub(micros)))
}

fn date(value: &str, end: bool) -> Option<Timestamp> {
    let date: Date = value.parse().ok()?;
    let days: Span = i64::from(end).days();
    let midnight = date.checked_add(days).ok()?.to_zoned_datetime(TimeZone::system()).ok()?;
    Some(Timestamp::from_micros(midnight.timestamp().as_microsecond()))
}
