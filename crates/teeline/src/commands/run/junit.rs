//! The report that CI systems show: a test case for each exchange.

use std::{fs::File, time::Duration};

use anyhow::Result;
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};
use teeline_finding::Severity;

use super::{Captured, failings};

/// Writes the report. An exchange fails if it has a finding of `least` severity or above.
pub(super) fn write(captured: &[Captured], least: Severity, file: File) -> Result<()> {
    let mut suite = TestSuite::new("teeline");
    suite.add_test_cases(captured.iter().map(|one| case(one, least)));
    let mut report = Report::new("teeline");
    report.add_test_suite(suite);
    Ok(report.serialize(file)?)
}

fn case(one: &Captured, least: Severity) -> TestCase {
    let Captured { summary, reading } = one;
    let failing: Vec<String> = failings(reading, least)
        .map(|finding| format!("{}: {}", finding.kind.id(), finding.kind.message()))
        .collect();
    let status = match failing.first() {
        None => TestCaseStatus::success(),
        Some(first) => {
            let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
            let kind = first.split(':').next().unwrap_or_default();
            status.set_message(reading.summary.clone()).set_type(kind);
            status.set_description(failing.join("\n"));
            status
        }
    };
    let name = format!("{} {} {}", summary.method, summary.path, summary.id);
    let mut case = TestCase::new(name, status);
    case.set_classname(format!("{}.{}", summary.upstream, reading.format));
    if let Some(ms) = summary.duration_ms {
        case.set_time(Duration::from_secs_f64((ms / 1000.0).max(0.0)));
    }
    case.set_system_out(reading.summary.clone());
    case
}
