//! What has to be asked of others.

use std::time::Duration;

use jiff::{Timestamp, fmt::rfc2822};
use teeline_proxy::{Answer, Upstream, probe};
use tokio::task::JoinSet;

use super::{Found, Level};
use crate::config::Config;

/// A larger difference between two clocks confuses times in captures with those in logs.
const CLOCK: u64 = 60;

/// An upstream that takes longer is said to be out of reach.
const PATIENCE: Duration = Duration::from_secs(5);

/// Whether each upstream can be reached, and whether its clock agrees with this machine's.
pub(super) async fn upstreams(config: &Config, proxy: &teeline_proxy::Config) -> Vec<Found> {
    let mut proxy = proxy.clone();
    proxy.connect_timeout = proxy.connect_timeout.min(PATIENCE);
    let mut asked = JoinSet::new();
    for (place, upstream) in proxy.upstreams.iter().cloned().enumerate() {
        let proxy = proxy.clone();
        asked.spawn(async move {
            let answer = probe(&upstream, &proxy).await;
            (place, upstream, answer)
        });
    }
    let mut answers = asked.join_all().await;
    answers.sort_by_key(|(place, ..)| *place);
    let mut found: Vec<Found> = answers
        .iter()
        .map(|(_, upstream, answer)| reached(config, upstream, answer.as_ref()))
        .collect();
    found.push(clock(answers.iter().filter_map(|(.., answer)| answer.as_ref().ok())));
    found
}

fn reached(config: &Config, upstream: &Upstream, answer: Result<&Answer, &String>) -> Found {
    const CHECK: &str = "upstream";
    let configured = config.upstreams.iter().any(|named| named.name == upstream.name());
    match answer {
        Ok(answer) => {
            let took = answer.took.as_millis();
            Found::new(CHECK, Level::Ok, format!("{upstream} answers, in {took} ms"))
        }
        // Nobody uses all of the built-in ones.
        Err(why) if !configured => Found::new(CHECK, Level::Note, format!("{upstream}: {why}")),
        Err(why) => Found::new(CHECK, Level::Warning, format!("{upstream}: {why}")),
    }
}

fn clock<'a>(mut answers: impl Iterator<Item = &'a Answer>) -> Found {
    const CHECK: &str = "clock";
    let theirs = answers.find_map(|answer| {
        let date = rfc2822::DateTimeParser::new().parse_timestamp(answer.date.as_deref()?).ok()?;
        Some(date)
    });
    let Some(theirs) = theirs else {
        return Found::new(CHECK, Level::Note, "no upstream told its time, so it was not compared");
    };
    let seconds = Timestamp::now().duration_since(theirs).as_secs();
    if seconds.unsigned_abs() <= CLOCK {
        Found::new(CHECK, Level::Ok, "it agrees with the upstreams'")
    } else {
        let way = if 0 < seconds { "ahead of" } else { "behind" };
        let message = format!(
            "it is {} s {way} the upstreams'; set this machine's clock",
            seconds.unsigned_abs()
        );
        Found::new(CHECK, Level::Warning, message)
    }
}
