//! Which recording answers which request.

use std::{
    str::FromStr,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use teeline_script::{Request, Script};

use super::recording::Recording;

/// How quickly the answers come, compared with the recorded ones.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Speed {
    /// So many times as quickly.
    Times(f64),
    /// Without any pause.
    Max,
}

impl Speed {
    pub(super) fn pause(self, recorded: Duration) -> Duration {
        match self {
            Self::Times(times) => recorded.div_f64(times),
            Self::Max => Duration::ZERO,
        }
    }
}

impl FromStr for Speed {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "max" {
            return Ok(Self::Max);
        }
        match text.parse::<f64>() {
            Ok(times) if (0.001..=1e6).contains(&times) => Ok(Self::Times(times)),
            _ => {
                Err("must be `max`, or a number from 0.001 to 1000000 such as 2 or 0.5".to_owned())
            }
        }
    }
}

/// The first requests fail: a status, and how many do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fail {
    status: u16,
    times: u64,
}

impl FromStr for Fail {
    type Err = String;

    /// `429`, or `429*3`.
    fn from_str(text: &str) -> Result<Self, String> {
        let (status, times) = text.split_once('*').unwrap_or((text, "1"));
        match (status.parse::<u16>(), times.parse::<u64>()) {
            (Ok(status @ 400..=599), Ok(times)) => Ok(Self { status, times }),
            _ => {
                Err("must be a status from 400 to 599, such as 429, or with a count 429*3"
                    .to_owned())
            }
        }
    }
}

/// Hands the recordings out.
pub(super) struct Player {
    recordings: Vec<Recording>,
    speed: Speed,
    again: bool,
    state: Mutex<State>,
}

struct State {
    /// Which recordings were played in this round.
    played: Vec<bool>,
    fail: Option<Fail>,
}

impl Player {
    pub(super) fn new(
        recordings: Vec<Recording>,
        speed: Speed,
        again: bool,
        fail: Option<Fail>,
    ) -> Self {
        let played = vec![false; recordings.len()];
        Self { recordings, speed, again, state: Mutex::new(State { played, fail }) }
    }

    /// The answer to a request: the next recording that fits it.
    pub(super) fn answer(&self, request: &Request) -> Script {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(fail) = &mut state.fail
            && 0 < fail.times
        {
            fail.times -= 1;
            return error(fail.status, "This failure was asked for.");
        }
        let path = request.target.split('?').next().unwrap_or_default();
        let fits = |at: usize| {
            self.recordings.get(at).is_some_and(|recording| fits(recording, &request.method, path))
        };
        let fitting: Vec<usize> = (0..self.recordings.len()).filter(|&at| fits(at)).collect();
        let unplayed = |state: &State| {
            fitting.iter().copied().find(|&at| state.played.get(at) == Some(&false))
        };
        let mut next = unplayed(&state);
        if next.is_none() && self.again {
            for &at in &fitting {
                if let Some(played) = state.played.get_mut(at) {
                    *played = false;
                }
            }
            next = unplayed(&state);
        }
        let Some((at, recording)) = next.and_then(|at| Some((at, self.recordings.get(at)?))) else {
            return self.nothing(fitting.is_empty());
        };
        if let Some(played) = state.played.get_mut(at) {
            *played = true;
        }
        recording.script(self.speed)
    }

    fn nothing(&self, no_fit: bool) -> Script {
        if no_fit {
            let list: Vec<String> = self.recordings.iter().map(Recording::in_words).collect();
            error(
                404,
                &format!("No recording answers this request; there are: {}", list.join("; ")),
            )
        } else {
            error(503, "Every recording that answers this request was played; --loop begins again.")
        }
    }
}

/// A base URL may add segments before the recorded path or leave some of it out, as proxies do.
fn fits(recording: &Recording, method: &str, path: &str) -> bool {
    if recording.method.is_empty() {
        return true;
    }
    let ends = |long: &str, short: &str| !short.is_empty() && long.ends_with(short);
    recording.method == method && (ends(path, &recording.path) || ends(&recording.path, path))
}

fn error(status: u16, message: &str) -> Script {
    let reason = hyper::StatusCode::from_u16(status).ok().and_then(|s| s.canonical_reason());
    let body = serde_json::json!({"error": {"type": "teeline_replay", "message": message}});
    Script::answer(
        &format!("{status} {}", reason.unwrap_or("Error")),
        &[("Content-Type", "application/json")],
        body.to_string(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn speeds_and_failures_are_read_or_refused() {
        assert_eq!("max".parse(), Ok(Speed::Max));
        assert_eq!("0.5".parse(), Ok(Speed::Times(0.5)));
        for bad in ["0", "-1", "NaN", "inf", "fast"] {
            assert!(bad.parse::<Speed>().is_err(), "{bad}");
        }
        assert_eq!("429*3".parse(), Ok(Fail { status: 429, times: 3 }));
        assert_eq!("503".parse(), Ok(Fail { status: 503, times: 1 }));
        for bad in ["200", "429*", "x", ""] {
            assert!(bad.parse::<Fail>().is_err(), "{bad}");
        }
        assert_eq!(Speed::Times(2.0).pause(Duration::from_secs(3)), Duration::from_millis(1500));
        assert_eq!(Speed::Max.pause(Duration::from_secs(3)), Duration::ZERO);
    }
}
