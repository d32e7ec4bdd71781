//! The lines of SDKs that the list of differences names: they have to be there.

use std::{fs, path::Path, path::PathBuf, process::Command};

use super::Language;

/// Where the packages of a language are installed.
pub(super) fn packages(language: Language) -> PathBuf {
    match language {
        Language::Node => crate::root().join("tests/sdk/node_modules"),
        Language::Python => {
            let output = Command::new(crate::python())
                .args(["-c", "import sysconfig; print(sysconfig.get_path('purelib'))"])
                .output()
                .expect("Python runs");
            String::from_utf8(output.stdout).expect("a path").trim().into()
        }
    }
}

/// What is wrong with a place, a file and a line: the file has to be there, and the line has to hold code.
pub(super) fn fault(packages: &Path, at: &str) -> Option<String> {
    let Some((file, line)) = at.rsplit_once(':') else {
        return Some(format!("{at} names no line"));
    };
    let Ok(source) = fs::read_to_string(packages.join(file)) else {
        return Some(format!("{at}: there is no such file"));
    };
    let number = line.parse::<usize>().ok().and_then(|line| line.checked_sub(1));
    match number.and_then(|number| source.lines().nth(number)).map(str::trim) {
        None => Some(format!("{at}: the file has {} lines", source.lines().count())),
        Some(line) if !line.contains(char::is_alphanumeric) || is_comment(line) => {
            Some(format!("{at}: there is no code in that line: {line}"))
        }
        Some(_) => None,
    }
}

fn is_comment(line: &str) -> bool {
    ["#", "//", "/*", "* ", "\"\"\""].iter().any(|sign| line.starts_with(sign))
}

#[cfg(test)]
mod tests {
    use super::fault;

    #[test]
    fn a_place_is_a_line_of_code() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a.py"), "# why\nx = 1\n\n").unwrap();
        let found = |at| fault(folder.path(), at);
        assert_eq!(found("a.py:2"), None);
        for (at, word) in [
            ("a.py", "names no line"),
            ("b.py:1", "no such file"),
            ("a.py:1", "no code"),
            ("a.py:3", "no code"),
            ("a.py:4", "has 3 lines"),
            ("a.py:0", "has 3 lines"),
            ("a.py:x", "has 3 lines"),
        ] {
            assert!(found(at).is_some_and(|fault| fault.contains(word)), "{at}");
        }
    }
}
