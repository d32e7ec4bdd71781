//! The logic of the dashboard's scripts by itself, in Node.

use std::process::Command;

use teeline_assembler::FORMATS;
use teeline_finding::catalogue;
use teeline_tests::{Need, available, root};

#[test]
fn the_scripts_own_tests_pass() {
    if !available("the_scripts_own_tests_pass", &[Need::Node]) {
        return;
    }
    let mut files: Vec<_> = std::fs::read_dir(root().join("crates/dashboard/tests/js"))
        .expect("the tests are there")
        .map(|entry| entry.expect("it can be read").path())
        .collect();
    files.sort();
    let output = Command::new("node").arg("--test").args(files).output().expect("node runs");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}");
    let passed = said.lines().find_map(|line| line.split_once("pass ")?.1.parse::<u32>().ok());
    assert!(passed.is_some_and(|passed| passed > 20), "{said}");
}

/// The Chinese words of findings are held to the catalogue here as well: what the scripts' tests read is its source.
#[test]
fn every_finding_has_its_chinese_words() {
    let path = root().join("crates/dashboard/assets/chinesefindings.js");
    let source = std::fs::read_to_string(path).expect("the words are there");
    for entry in catalogue::ENTRIES {
        let quoted = format!("\n  \"{}\": {{\n    title: \"", entry.id);
        let bare = format!("\n  {}: {{\n    title: \"", entry.id);
        assert!(source.contains(&quoted) || source.contains(&bare), "{}", entry.id);
    }
}

/// So does every meaning that an assembler has: a rare reason is read in the same language as a common one.
#[test]
fn every_meaning_has_its_chinese_words() {
    let path = root().join("crates/dashboard/assets/chinesemeanings.js");
    let source = std::fs::read_to_string(path).expect("the words are there");
    let reasons =
        FORMATS.iter().flat_map(|format| format.reasons.iter().map(|known| known.meaning));
    let errors = FORMATS.iter().flat_map(|format| format.errors.iter().map(|known| known.1));
    let missing: Vec<_> = reasons
        .chain(errors)
        .filter(|meaning| !source.contains(&format!("\n  \"{meaning}\": \"")))
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
}
