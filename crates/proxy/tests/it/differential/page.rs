//! UNCHANGED.md says what the suite proves.

use super::differences::{Proof, ROWS};

const PAGE: &str = include_str!("../../../../../UNCHANGED.md");

/// The table of the page, from the rows.
fn table() -> String {
    let mut table = String::from("| directly | through teeline | why |\n|---|---|---|\n");
    for row in ROWS {
        table.extend(["| ", row.what, " | ", row.through, " | ", row.why, " |\n"]);
    }
    table
}

#[test]
fn the_page_lists_the_differences_and_no_other() {
    let rows: String =
        PAGE.lines().filter(|line| line.starts_with('|')).flat_map(|line| [line, "\n"]).collect();
    assert_eq!(rows, table(), "the table of UNCHANGED.md has to be:\n{}", table());
}

/// A row that is proved elsewhere names a test that exists.
#[test]
fn every_row_is_proved() {
    let sources = [("http2", include_str!("../http2.rs")), ("tls", include_str!("../tls.rs"))];
    for row in ROWS {
        if let Proof::Test(name) = row.proof {
            let (module, test) = name.split_once("::").unwrap();
            let source = sources.iter().find(|(known, _)| *known == module).unwrap().1;
            assert!(source.contains(&format!("async fn {test}()")), "{name}");
        }
    }
}
