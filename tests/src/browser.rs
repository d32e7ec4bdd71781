//! A real Chromium, driven step by step through `tests/browser/driver.mjs`.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    path::Path,
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

use serde_json::{Value, json};

/// An open browser with one page.
pub struct Browser {
    child: Child,
    commands: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Browser {
    /// Starts it. Ask [`crate::available`] before.
    pub fn start() -> Self {
        let chromium = crate::chromium().expect("a browser is here");
        let mut child = Command::new("node")
            .arg("driver.mjs")
            .arg(chromium)
            .current_dir(crate::root().join("tests/browser"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("node runs");
        let commands = child.stdin.take().expect("it has a standard input");
        let answers = BufReader::new(child.stdout.take().expect("it has a standard output"));
        Self { child, commands, answers }
    }

    /// Carries out one command of the driver and gives its answer; an error there is a failed test.
    pub fn run(&mut self, command: &str, mut parameters: Value) -> Value {
        parameters["command"] = json!(command);
        writeln!(self.commands, "{parameters}").expect("the driver reads");
        let mut line = String::new();
        self.answers.read_line(&mut line).expect("the driver answers");
        let mut answer: Value = serde_json::from_str(&line)
            .unwrap_or_else(|_| panic!("the driver died at {parameters}"));
        assert!(answer.get("error").is_none(), "{}", answer["error"].as_str().unwrap_or_default());
        answer["ok"].take()
    }

    /// Opens a page and waits for its load.
    pub fn goto(&mut self, url: &str) {
        self.run("goto", json!({ "url": url }));
    }

    /// Waits until an element is visible.
    pub fn wait(&mut self, selector: &str) {
        self.run("wait", json!({ "selector": selector }));
    }

    /// Waits until an element holds this text.
    pub fn wait_text(&mut self, selector: &str, text: &str) {
        self.run("wait_text", json!({ "selector": selector, "text": text }));
    }

    /// The text of the first such element.
    pub fn text(&mut self, selector: &str) -> String {
        self.run("text", json!({ "selector": selector })).as_str().unwrap_or_default().to_owned()
    }

    /// How many such elements there are.
    pub fn count(&mut self, selector: &str) -> u64 {
        self.run("count", json!({ "selector": selector })).as_u64().unwrap_or_default()
    }

    /// Clicks the first such element.
    pub fn click(&mut self, selector: &str) {
        self.run("click", json!({ "selector": selector }));
    }

    /// Presses a key or a combination, such as `Enter` or `Shift+ArrowLeft`.
    pub fn press(&mut self, keys: &str) {
        self.run("press", json!({ "keys": keys }));
    }

    /// Types into a field, replacing what is in it.
    pub fn fill(&mut self, selector: &str, text: &str) {
        self.run("fill", json!({ "selector": selector, "text": text }));
    }

    /// Runs JavaScript in the page.
    pub fn evaluate(&mut self, expression: &str) -> Value {
        self.run("evaluate", json!({ "expression": expression }))
    }

    /// Takes a picture.
    pub fn screenshot(&mut self, path: &Path) {
        self.run("screenshot", json!({ "path": path }));
    }

    /// Everything a page should never do, since the last call: console errors, CSP reports, foreign requests.
    pub fn problems(&mut self) -> Vec<String> {
        let problems = self.run("problems", json!({}));
        problems
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|p| p.as_str().map(str::to_owned))
            .collect()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // The driver may have died, which the test has said by then.
        let _ = writeln!(self.commands, r#"{{"command":"close"}}"#);
        let _ = self.child.wait();
    }
}
