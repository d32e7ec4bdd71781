//! Readings and frames as text for people.

use std::fmt::Write as _;

use teeline_assembler::{FrameRow, Output as Answer, Reading, ToolCall, Verdict};
use teeline_finding::{Finding, Severity};

use crate::output::{escaped, escaped_line};

/// Whether a reading is a success to a script: finished, and no finding of severity error.
pub(crate) fn is_good(reading: &Reading) -> bool {
    reading.verdict == Verdict::Finished
        && reading.findings.iter().all(|finding| finding.severity() != Severity::Error)
}

/// The whole reading: summary, facts, answers, findings. Ends with a line end.
pub(crate) fn reading(reading: &Reading) -> String {
    let mut out = String::new();
    line(&mut out, &escaped_line(&reading.summary));
    line(&mut out, &facts(reading));
    for answer in &reading.outputs {
        answer_text(&mut out, answer, reading.outputs.len());
    }
    if let Some(error) = &reading.error {
        let label = error.error_type.as_deref().or(error.code.as_deref()).unwrap_or("error");
        line(
            &mut out,
            &format!("\nerror    {}: {}", escaped_line(label), escaped_line(&error.message)),
        );
        if let Some(meaning) = &error.meaning {
            line(&mut out, &format!("         {}", escaped_line(meaning)));
        }
    }
    findings(&mut out, &reading.findings);
    out
}

fn line(out: &mut String, text: &str) {
    out.push_str(text);
    out.push('\n');
}

fn facts(reading: &Reading) -> String {
    let mut facts = vec![format!("format {}", reading.format)];
    if let Some(framing) = reading.framing {
        facts.push(format!("framing {framing}"));
    }
    if let Some(model) = &reading.model {
        facts.push(format!("model {}", escaped_line(model)));
    }
    if let Some(id) = &reading.id {
        facts.push(format!("id {}", escaped_line(id)));
    }
    let counts = reading.counts;
    facts.push(format!(
        "{} bytes, {} frames, {} events",
        counts.bytes, counts.frames, counts.events
    ));
    if counts.comments > 0 {
        facts.push(format!("{} comments", counts.comments));
    }
    let mut text = facts.join(" · ");
    if let Some(usage) = &reading.usage {
        let count =
            |value: Option<u64>| value.map_or_else(|| "—".to_owned(), |value| value.to_string());
        // Writing to a String cannot fail.
        let _ = write!(
            text,
            "\nusage    {} in, {} out, {} in all",
            count(usage.input_tokens),
            count(usage.output_tokens),
            count(usage.total_tokens)
        );
        for (value, words) in
            [(usage.cached_tokens, "cached"), (usage.reasoning_tokens, "for reasoning")]
        {
            if let Some(value) = value {
                let _ = write!(text, ", {value} {words}");
            }
        }
    }
    if let Some(timing) = &reading.timing {
        let shown = [
            ("first byte", timing.first_byte_ms),
            ("first text", timing.first_text_ms),
            ("last byte", timing.last_byte_ms),
            ("longest gap", timing.longest_gap_ms),
        ];
        let parts: Vec<String> = shown
            .iter()
            .filter_map(|(name, ms)| ms.map(|ms| format!("{name} {}", duration(ms))))
            .collect();
        let _ = write!(text, "\ntiming   {}", parts.join(", "));
    }
    text
}

/// `612 ms`, `5.44 s`, `2 m 05 s`.
pub(crate) fn duration(ms: f64) -> String {
    if ms < 1000.0 {
        format!("{ms:.0} ms")
    } else if ms < 120_000.0 {
        format!("{:.2} s", ms / 1000.0)
    } else {
        format!("{:.0} m {:02.0} s", (ms / 60_000.0).floor(), (ms % 60_000.0) / 1000.0)
    }
}

fn answer_text(out: &mut String, answer: &Answer, of: usize) {
    out.push('\n');
    if of > 1 {
        line(out, &format!("── choice {} ──", answer.index));
    }
    for (label, text) in [("reasoning", &answer.reasoning), ("refusal", &answer.refusal)] {
        if !text.is_empty() {
            line(out, &format!("[{label}]\n{}\n", escaped(text)));
        }
    }
    if !answer.text.is_empty() {
        line(out, &escaped(&answer.text));
    }
    for call in &answer.tool_calls {
        tool_call(out, call);
    }
    if let Some(finish) = &answer.finish {
        let meaning =
            finish.meaning.as_deref().map(|meaning| format!(": {meaning}")).unwrap_or_default();
        line(out, &format!("finish   {}{}", escaped_line(&finish.reason), escaped_line(&meaning)));
    }
}

fn tool_call(out: &mut String, call: &ToolCall) {
    let state = match (call.complete, call.arguments_valid) {
        (false, _) => "not closed",
        (true, true) => "valid JSON",
        (true, false) => "NOT JSON",
    };
    let name = call.name.as_deref().unwrap_or("(no name)");
    let id = call.id.as_deref().unwrap_or("no id");
    line(
        out,
        &format!("tool {}   {}  {}  [{state}]", call.index, escaped_line(name), escaped_line(id)),
    );
    line(out, &format!("         {}", escaped_line(&call.arguments)));
}

fn findings(out: &mut String, findings: &[Finding]) {
    if findings.is_empty() {
        line(out, "\nNothing wrong was found.");
        return;
    }
    line(out, "");
    for finding in findings {
        let mut place = Vec::new();
        if let Some(frame) = finding.place.frame {
            place.push(format!("frame {frame}"));
        }
        if let Some(number) = finding.place.line {
            place.push(format!("line {number}"));
        }
        if finding.count > 1 {
            place.push(format!("and {} more like it", finding.count - 1));
        }
        let place =
            if place.is_empty() { String::new() } else { format!(" ({})", place.join(", ")) };
        let message = finding.kind.message();
        line(
            out,
            &format!(
                "{:<8} {}: {}{place}",
                finding.severity().as_str(),
                finding.kind.id(),
                escaped_line(&message)
            ),
        );
    }
}

/// One frame on one line.
pub(crate) fn frame(row: &FrameRow) -> String {
    let at = row.at_ms.map_or_else(String::new, |ms| format!("{:>10.3}", ms / 1000.0));
    let carried = row.effect.as_ref().map(|effect| effect.carried.as_str()).unwrap_or_default();
    let data = row.data.as_deref().or(row.comments.first().map(String::as_str)).unwrap_or_default();
    let shown: String = data.chars().take(100).collect();
    let more = if shown.len() < data.len() { "…" } else { "" };
    format!(
        "{:>6} {at} {:<22} {:<18} {:>6} B  {}{more}",
        row.index,
        escaped_line(row.event.as_deref().unwrap_or("")),
        escaped_line(carried),
        row.length,
        escaped_line(&shown),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_written_as_the_design_says() {
        let shown = [612.0, 5440.0, 14900.0, 125_000.0].map(duration);
        assert_eq!(shown, ["612 ms", "5.44 s", "14.90 s", "2 m 05 s"]);
    }
}
