//! A real Chromium, driven step by step through `tests/browser/driver.mjs`.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    path::Path,
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    sync::{Mutex, PoisonError},
};

use serde_json::{Value, json};

use crate::Turn;

/// An open browser with one page, in a profile of its own.
pub struct Browser {
    /// There until it is dropped.
    driver: Option<Driver>,
    _turn: Turn,
}

/// The program that drives a browser.
struct Driver {
    child: Child,
    commands: ChildStdin,
    answers: BufReader<ChildStdout>,
}

/// Browsers that a test has done with: the next takes one, which is much quicker than a start. They end with this
/// process, whose end is that of their input.
static IDLE: Mutex<Vec<Driver>> = Mutex::new(Vec::new());

impl Driver {
    fn start() -> Self {
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

    fn run(&mut self, command: &str, mut parameters: Value) -> Value {
        parameters["command"] = json!(command);
        writeln!(self.commands, "{parameters}").expect("the driver reads");
        let mut line = String::new();
        self.answers.read_line(&mut line).expect("the driver answers");
        let mut answer: Value = serde_json::from_str(&line)
            .unwrap_or_else(|_| panic!("the driver died at {parameters}"));
        assert!(answer.get("error").is_none(), "{}", answer["error"].as_str().unwrap_or_default());
        answer["ok"].take()
    }
}

impl Browser {
    /// Starts it. Ask [`crate::available`] before. It has a share of the machine (see [`Turn::shared`]).
    pub fn start() -> Self {
        Self::in_turn(Turn::shared())
    }

    /// Starts it in a turn that the test has taken.
    pub fn in_turn(turn: Turn) -> Self {
        let idle = IDLE.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut driver = idle.unwrap_or_else(Driver::start);
        driver.run("open", json!({}));
        Self { driver: Some(driver), _turn: turn }
    }

    /// Carries out one command of the driver and gives its answer; an error there is a failed test.
    pub fn run(&mut self, command: &str, parameters: Value) -> Value {
        self.driver.as_mut().expect("it is there until it is dropped").run(command, parameters)
    }

    /// Goes to a tab by its number; the first that is not there is opened.
    pub fn tab(&mut self, number: usize) {
        self.run("tab", json!({ "number": number }));
    }

    /// Keeps back the page's requests to a URL, until [`Browser::let_go`].
    pub fn keep_back(&mut self, url: &str) {
        self.run("keep_back", json!({ "url": url }));
    }

    /// Sends what was kept back.
    pub fn let_go(&mut self) {
        self.run("let_go", json!({}));
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

    /// Waits until so many elements are there.
    pub fn wait_count(&mut self, selector: &str, count: usize) {
        self.run("wait_count", json!({ "selector": selector, "count": count }));
    }

    /// Waits until a JavaScript expression is true.
    pub fn until(&mut self, expression: &str) {
        self.run("until", json!({ "expression": expression }));
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

    /// Clicks a point of an element, in shares of its width and height.
    pub fn click_at(&mut self, selector: &str, at: (f64, f64)) {
        self.run("click_at", json!({ "selector": selector, "at": at }));
    }

    /// Moves the pointer to a point of an element.
    pub fn hover(&mut self, selector: &str, at: (f64, f64)) {
        self.run("hover", json!({ "selector": selector, "at": at }));
    }

    /// Drags from one point of an element to another.
    pub fn drag(&mut self, selector: &str, from: (f64, f64), to: (f64, f64)) {
        self.run("drag", json!({ "selector": selector, "from": from, "to": to }));
    }

    /// Turns the wheel over a point of an element.
    pub fn wheel(&mut self, selector: &str, at: (f64, f64), by: i64) {
        self.run("wheel", json!({ "selector": selector, "at": at, "by": by }));
    }

    /// Presses a key or a combination, such as `Enter` or `Shift+ArrowLeft`.
    pub fn press(&mut self, keys: &str) {
        self.run("press", json!({ "keys": keys }));
    }

    /// Types into a field, replacing what is in it.
    pub fn fill(&mut self, selector: &str, text: &str) {
        self.run("fill", json!({ "selector": selector, "text": text }));
    }

    /// Types where the focus is.
    pub fn type_text(&mut self, text: &str) {
        self.run("type", json!({ "text": text }));
    }

    /// Goes back in the history.
    pub fn back(&mut self) {
        self.run("back", json!({}));
    }

    /// Goes forward in the history.
    pub fn forward(&mut self) {
        self.run("forward", json!({}));
    }

    /// Loads the page again.
    pub fn reload(&mut self) {
        self.run("reload", json!({}));
    }

    /// Where the page is: path and query.
    pub fn address(&mut self) -> String {
        let url = self.run("url", json!({}));
        let url = url.as_str().unwrap_or_default();
        url.split_once("://")
            .and_then(|(_, rest)| rest.find('/').map(|at| rest[at..].to_owned()))
            .unwrap_or_default()
    }

    /// What was copied.
    pub fn clipboard(&mut self) -> String {
        self.run("clipboard", json!({})).as_str().unwrap_or_default().to_owned()
    }

    /// Clicks what downloads; gives the file's name and its text.
    pub fn download(&mut self, selector: &str) -> (String, String) {
        let file = self.run("download", json!({ "selector": selector }));
        let text = |name: &str| file[name].as_str().unwrap_or_default().to_owned();
        (text("name"), text("text"))
    }

    /// Clicks, keys and drags since the last call.
    pub fn actions(&mut self) -> u64 {
        self.run("actions", json!({})).as_u64().unwrap_or_default()
    }

    /// Sets the window's size.
    pub fn viewport(&mut self, width: u32, height: u32) {
        self.run("viewport", json!({ "width": width, "height": height }));
    }

    /// What axe-core finds on the page as it is.
    pub fn axe(&mut self) -> Vec<String> {
        self.strings("axe")
    }

    fn strings(&mut self, command: &str) -> Vec<String> {
        let found = self.run(command, json!({}));
        found
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|one| one.as_str().map(str::to_owned))
            .collect()
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
        self.strings("problems")
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let Some(mut driver) = self.driver.take() else { return };
        if std::thread::panicking() {
            // It may have died, which the test has said by then.
            let _ = writeln!(driver.commands, r#"{{"command":"close"}}"#);
            let _ = driver.child.wait();
        } else {
            driver.run("rest", json!({}));
            IDLE.lock().unwrap_or_else(PoisonError::into_inner).push(driver);
        }
    }
}
