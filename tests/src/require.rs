//! Suites that need something beyond Rust: skipped with a word where it is missing, failed where it is required.

use std::{io::Write as _, path::PathBuf, process::Command};

/// Something that a suite needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// A Chromium and playwright-core.
    Chromium,
    /// Python with the packages of `tests/sdk/requirements.txt`.
    Python,
    /// Node with the packages of `tests/sdk/package.json`.
    Node,
    /// The clients of `tests/clients`: its Python and its Node with their packages.
    Clients,
    /// The recorded streams beside the repository.
    Corpus,
}

impl Need {
    /// Its name in `TEELINE_REQUIRE`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Chromium => "chromium",
            Self::Python => "python",
            Self::Node => "node",
            Self::Clients => "clients",
            Self::Corpus => "corpus",
        }
    }

    fn is_here(self) -> bool {
        match self {
            Self::Chromium => {
                chromium().is_some()
                    && crate::root().join("tests/browser/node_modules/playwright-core").is_dir()
            }
            Self::Python => answers(
                &python(),
                &["-c", "import anthropic, cohere, google.genai, mistralai, ollama, openai"],
            ),
            Self::Node => {
                let modules = crate::root().join("tests/sdk/node_modules");
                ["@anthropic-ai/sdk", "ai", "openai"].iter().all(|name| modules.join(name).is_dir())
                    && answers("node", &["--version"])
            }
            Self::Clients => {
                let folder = crate::root().join("tests/clients");
                let here = |program: &str| folder.join(program).is_file();
                here(".venv/bin/litellm")
                    && here(".venv-aider/bin/aider")
                    && here("node_modules/.bin/codex")
                    && answers("curl", &["--version"])
            }
            Self::Corpus => crate::corpus().is_some(),
        }
    }
}

/// The Python that has the packages: the virtual environment in `tests/sdk`, else the one on the path.
pub fn python() -> String {
    let own = crate::root().join("tests/sdk/.venv/bin/python");
    if own.is_file() { own.display().to_string() } else { "python3".to_owned() }
}

/// The browser, where Debian and others put it.
pub fn chromium() -> Option<PathBuf> {
    ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"]
        .into_iter()
        .map(PathBuf::from)
        .find(|path| path.is_file())
}

fn answers(program: &str, arguments: &[&str]) -> bool {
    Command::new(program).args(arguments).output().is_ok_and(|output| output.status.success())
}

/// Whether everything a suite needs is here. If not, says so; where `TEELINE_REQUIRE` names it, the test fails.
pub fn available(suite: &str, needs: &[Need]) -> bool {
    let required = std::env::var("TEELINE_REQUIRE").unwrap_or_default();
    for need in needs {
        if !need.is_here() {
            assert!(
                !required.split(',').any(|name| name.trim() == need.name()),
                "{suite} needs {}, which TEELINE_REQUIRE asks for and is not here",
                need.name()
            );
            skipped(suite, need.name());
            return false;
        }
    }
    true
}

/// Says that a suite was skipped, past the test runner's capture of output.
pub fn skipped(suite: &str, missing: &str) {
    // Nothing depends on it being seen.
    let _ = writeln!(
        std::io::stderr().lock(),
        "SKIPPED {suite}: {missing} is not here (`.ci/run` installs it)"
    );
}
