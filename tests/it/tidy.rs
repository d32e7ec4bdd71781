//! Rules of the project that no compiler checks.

use std::{fs, path::PathBuf, process::Command};

use teeline_tests::root;

/// Every file that git knows, and those it would add.
fn files(ending: &str) -> Vec<PathBuf> {
    let listed = Command::new("git")
        .args(["ls-files", "--cached", "--others", "--exclude-standard"])
        .current_dir(root())
        .output()
        .expect("git runs");
    String::from_utf8_lossy(&listed.stdout)
        .lines()
        .filter(|name| name.ends_with(ending))
        .map(|name| root().join(name))
        .filter(|path| path.is_file())
        .collect()
}

#[test]
fn the_core_does_no_io() {
    let forbidden = ["tokio", "hyper", "axum", "rusqlite", "rustls", "jiff", "uuid"];
    for name in ["finding", "decoder", "assembler"] {
        let folder = root().join("crates").join(name);
        let manifest =
            fs::read_to_string(folder.join("Cargo.toml")).expect("the crate has a manifest");
        for other in forbidden {
            assert!(!manifest.contains(&format!("\n{other}")), "{name} must stay free of {other}");
        }
        for path in files(".rs").into_iter().filter(|path| path.starts_with(folder.join("src"))) {
            let text = fs::read_to_string(&path).expect("a source file is text");
            for module in ["std::net", "std::fs", "std::thread", "std::time", "std::process"] {
                assert!(!text.contains(module), "{} uses {module}", path.display());
            }
        }
    }
}

#[test]
fn only_the_program_prints_and_reads_its_surroundings() {
    for path in files(".rs") {
        let relative =
            path.strip_prefix(root()).expect("it is listed from the root").display().to_string();
        let library = relative.starts_with("crates/") && relative.contains("/src/");
        if !library || relative.starts_with("crates/teeline/") {
            continue;
        }
        let text = fs::read_to_string(&path).expect("a source file is text");
        for forbidden in ["std::env::args", "std::env::var", "io::stdout", "io::stderr"] {
            assert!(!text.contains(forbidden), "{relative} uses {forbidden}");
        }
    }
}

#[test]
fn files_are_about_one_thing() {
    for path in files(".rs") {
        let text = fs::read_to_string(&path).expect("a source file is text");
        let code = text
            .lines()
            .take_while(|line| !line.starts_with("#[cfg(test)]"))
            .filter(|line| !line.trim().is_empty())
            .count();
        // The catalogue is a table with one entry a finding.
        let limit = if path.ends_with("finding/src/catalogue.rs") { 700 } else { 480 };
        assert!(code <= limit, "{} has {code} lines before its tests", path.display());
    }
}

#[test]
fn nothing_is_left_open() {
    for path in files(".rs").into_iter().chain(files(".js")).chain(files(".html")) {
        if path.ends_with("tests/it/tidy.rs") {
            continue;
        }
        let text = fs::read_to_string(&path).expect("a source file is text");
        for word in ["FIXME", "XXX:", "HACK", "TODO", "todo!(", "unimplemented!("] {
            assert!(!text.contains(word), "{} holds {word}", path.display());
        }
    }
}

#[test]
fn the_readme_names_the_test_command_that_ci_runs() {
    let readme = fs::read_to_string(root().join("README.md")).expect("there is a README");
    let ci = fs::read_to_string(root().join(".ci/run")).expect("there is a CI run");
    assert!(readme.contains("\ncargo test --workspace\n"));
    assert!(ci.contains("\ncargo test --workspace "));
}

#[test]
fn the_container_publishes_on_loopback_only() {
    let compose =
        fs::read_to_string(root().join("docker/compose.yaml")).expect("there is a compose file");
    let ports: Vec<&str> = compose
        .lines()
        .map(str::trim)
        .filter(|line| line.ends_with("4780\"") || line.ends_with("4781\""))
        .collect();
    assert_eq!(ports, ["- \"127.0.0.1:4780:4780\"", "- \"127.0.0.1:4781:4781\""]);
}

#[test]
fn every_claim_about_security_names_tests_that_exist() {
    let page = fs::read_to_string(root().join("SECURITY.md")).expect("SECURITY.md is there");
    let sources: Vec<String> =
        files(".rs").iter().map(|path| fs::read_to_string(path).expect("text")).collect();
    let (_, table) = page.split_once("| threat |").expect("the table is there");
    let rows: Vec<&str> = table.lines().skip(2).filter(|line| line.starts_with('|')).collect();
    assert!(15 <= rows.len());
    for row in rows {
        let tests = row.rsplit('|').nth(1).expect("a last column");
        let names: Vec<&str> = tests.split('`').skip(1).step_by(2).collect();
        assert!(!names.is_empty(), "no test is named: {row}");
        for name in names {
            let declared = format!("fn {name}(");
            assert!(sources.iter().any(|text| text.contains(&declared)), "there is no test {name}");
        }
    }
}
