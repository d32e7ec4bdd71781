//! `teeline show`: one capture, as `read` prints it, with its request and timing.

use std::process::ExitCode;

use anyhow::Result;
use teeline_capture::{Exchange, Store};
use teeline_export::each_page;

use crate::{
    args::ShowArgs,
    config,
    output::{Output, escaped_line},
    present,
};

/// Shows the capture.
///
/// # Errors
///
/// There is no store, or no capture of that id.
pub(crate) fn run(args: &ShowArgs) -> Result<ExitCode> {
    let store = Store::open_read_only(&config::store_dir(&args.store)?)?;
    let id = store.find(&args.id)?;
    let reading = store.reading(id)?;
    let good = present::is_good(&reading);
    let mut output = Output::new();
    if args.view.json {
        let mut reading = (*reading).clone();
        if args.view.frames {
            let mut rows = Vec::new();
            each_page(&store, id, |page| {
                rows.extend(page);
                anyhow::Ok(())
            })?;
            reading.frames = Some(rows);
        }
        output.json(&reading)?;
    } else {
        output.line(&request(&store.exchange(id)?))?;
        output.bytes(present::reading(&reading).as_bytes())?;
        if args.view.frames {
            output.line("")?;
            each_page(&store, id, |page| {
                page.iter().try_for_each(|row| output.line(&present::frame(row)))
            })?;
        }
    }
    output.flush()?;
    Ok(if good { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn request(exchange: &Exchange) -> String {
    let summary = &exchange.summary;
    let mut text = format!(
        "capture  {}\nrequest  {} {}\nsent to  {}\nstarted  {}\n",
        summary.id,
        escaped_line(&summary.method),
        escaped_line(&summary.path),
        escaped_line(&exchange.request.url),
        summary.started_at,
    );
    let status = summary
        .status
        .map_or_else(|| "no response".to_owned(), |status| format!("status {status}"));
    let total = summary
        .duration_ms
        .map(|ms| format!(", {} in all", present::duration(ms)))
        .unwrap_or_default();
    text.push_str(&format!("response {status}, {}{total}", summary.state.as_str()));
    if let Some(reason) = &summary.end_reason {
        text.push_str(&format!(" ({})", escaped_line(reason)));
    }
    text.push_str(&format!(
        "\npassed   {} bytes in, {} bytes to the app",
        summary.bytes, summary.bytes_to_app
    ));
    if let Some(hash) = &summary.sha256 {
        text.push_str(&format!(", sha256 {hash}"));
    }
    text.push('\n');
    text
}
