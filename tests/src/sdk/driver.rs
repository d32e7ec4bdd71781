//! One process per SDK that reads many streams from one local server.

use std::{
    collections::BTreeMap,
    io::{BufRead as _, BufReader, Write as _},
    process::{Command, Stdio},
    thread,
};

use serde::Deserialize;
use serde_json::{Value, json};
use teeline_script::{Script, Upstream};

use super::{Stream, parse};
use crate::{Need, block_on, python, root};

/// What an SDK runs on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// `tests/sdk/drive.py`.
    Python,
    /// `tests/sdk/drive.mjs`.
    Node,
}

/// An SDK's accumulator.
#[derive(Clone, Copy, Debug)]
pub struct Sdk {
    /// Its name in `tests/sdk/differences.json`.
    pub name: &'static str,
    /// What it runs on.
    pub language: Language,
    /// Its file in `tests/sdk/python` or `tests/sdk/node`, without the ending.
    pub accumulator: &'static str,
}

/// What an SDK made of a stream.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// The object that it put together.
    Final(Value),
    /// What it raised instead.
    Raised(Raised),
}

/// An exception.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Raised {
    /// Its class.
    pub class: String,
    /// Its words.
    pub message: String,
    /// The innermost file and line of the SDK; `None` where its code had no part in it.
    pub at: Option<String>,
}

impl Sdk {
    /// What has to be here for it.
    pub fn needs(&self) -> Need {
        match self.language {
            Language::Python => Need::Python,
            Language::Node => Need::Node,
        }
    }

    /// Gives it streams. The answer: the versions of its packages, and what it made of each stream.
    pub fn read(&self, streams: &[Stream]) -> (Value, BTreeMap<String, Outcome>) {
        let served = streams.to_vec();
        let upstream =
            block_on(Upstream::builder().keep_requests(1).keep_body(0).start(move |request| {
                let number = request.target.split('/').nth(1).and_then(|n| n.parse::<usize>().ok());
                match number.and_then(|number| served.get(number)) {
                    Some(stream) => {
                        let headers = [("Content-Type", stream.content_type)];
                        Script::answer("200 OK", &headers, &stream.body)
                    }
                    None => Script::answer("404 Not Found", &[], ""),
                }
            }))
            .expect("a port is free");
        let lines: Vec<String> = streams
            .iter()
            .enumerate()
            .map(|(number, stream)| {
                json!({ "id": stream.id, "url": format!("{}/{number}", upstream.url()) })
                    .to_string()
            })
            .collect();
        let mut answers = self.drive(&lines);
        assert!(!answers.is_empty(), "{}: the driver said nothing", self.name);
        let versions = answers.remove(0)["versions"].take();
        let outcomes: BTreeMap<String, Outcome> = answers
            .into_iter()
            .map(|mut answer| {
                let id = crate::text(&answer["id"]).to_owned();
                answer.as_object_mut().expect("an answer is an object").remove("id");
                (id, serde_json::from_value(answer).expect("it is an outcome"))
            })
            .collect();
        assert_eq!(outcomes.len(), streams.len(), "{}: the driver died early", self.name);
        (versions, outcomes)
    }

    fn drive(&self, lines: &[String]) -> Vec<Value> {
        let (program, script) = match self.language {
            Language::Python => (python(), "drive.py"),
            Language::Node => ("node".to_owned(), "drive.mjs"),
        };
        let mut child = Command::new(program)
            .arg(root().join("tests/sdk").join(script))
            .arg(self.accumulator)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the driver runs");
        let mut stdin = child.stdin.take().expect("it has a standard input");
        let stdout = child.stdout.take().expect("it has a standard output");
        let answers = thread::scope(|scope| {
            scope.spawn(move || {
                for line in lines {
                    // A driver that died has closed the pipe; its answers are missing then, which is noticed.
                    if writeln!(stdin, "{line}").is_err() {
                        break;
                    }
                }
            });
            BufReader::new(stdout)
                .lines()
                .map(|line| parse(&line.expect("the driver writes UTF-8")))
                .collect()
        });
        assert!(child.wait().expect("it ends").success(), "{}: the driver failed", self.name);
        answers
    }
}
