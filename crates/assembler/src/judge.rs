//! What only the end of the body can tell, in the order of `FORMATS.md` J.

use teeline_finding::{Kind, Place, catalogue, excerpt};

use crate::{
    draft::{Draft, PartId, PartKind},
    format::Assembler,
};

/// What the end of the body was like, as far as the judgement needs it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Close {
    /// Something came that could have had an end.
    pub(crate) came: bool,
    /// Reading stopped before the body did, so that a missing end says nothing.
    pub(crate) stopped: bool,
}

/// Judges a stream whose body ended. Returns the findings of the end.
pub(crate) fn judge(
    draft: &mut Draft,
    assembler: &mut dyn Assembler,
    close: Close,
) -> Vec<(Place, Kind)> {
    draft.place = Place::STREAM;
    draft.closing = Some(Vec::new());
    draft.decide_all();
    assembler.finish(draft);
    if close.came {
        ends(draft, close);
    }
    calls(draft);
    if draft.ended && !draft.failed {
        answers(draft);
    }
    cumulative(draft);
    let mut closing = draft.closing.take().unwrap_or_default();
    closing.sort_by_key(|(_, kind)| rank(kind.id()));
    closing
}

/// A finding's place in the catalogue, which is that of the matrix.
fn rank(id: &str) -> usize {
    catalogue::ENTRIES.iter().position(|entry| entry.id == id).unwrap_or(usize::MAX)
}

fn ends(draft: &mut Draft, close: Close) {
    let rules = *draft.rules();
    if !draft.is_over() && !draft.open_ended && !close.stopped {
        let finished =
            draft.has_outputs() && draft.sorted_outputs().all(|output| output.finish.is_some());
        draft.report(Kind::NoEnd { expected: rules.end.to_owned(), finished });
    }
    if let Some(start) = rules.start
        && !draft.started
    {
        draft.broken = true;
        draft.report(Kind::NoStart { expected: start.to_owned() });
    }
    if !draft.rests {
        for block in draft.open_blocks() {
            draft.broken = true;
            draft.report(Kind::BlockOpen { what: block.to_string() });
        }
    }
}

/// Calls that cannot be answered, and those that can and were not judged when they closed.
fn calls(draft: &mut Draft) {
    let rules = *draft.rules();
    let is_call = |at: &usize| draft.parts.get(*at).is_some_and(|part| part.kind == PartKind::Call);
    let calls: Vec<usize> = (0..draft.parts.len()).filter(is_call).collect();
    for at in calls {
        let id = PartId(at);
        let output = draft.output_of(id);
        let part = draft.get(id);
        if let Some(missing) =
            part.call.missing(rules.calls_need_id).filter(|_| rules.calls_need_name)
        {
            let arguments = excerpt(&part.text.to_escaped());
            let (call, missing) = (part.call.index, missing.to_owned());
            draft.report(Kind::ToolCallIncomplete { call, missing, arguments });
            draft.get_mut(id).call.judged = true;
        } else if rules.judge_calls_at_end && (draft.ended || draft.reason(output).is_some()) {
            draft.close_call(id);
        }
    }
}

/// What a stream that ended well should have brought.
fn answers(draft: &mut Draft) {
    let rules = *draft.rules();
    if rules.reasons {
        let without: Vec<u64> = draft
            .sorted_outputs()
            .filter(|output| output.finish.is_none())
            .map(|output| output.index)
            .collect();
        for index in without {
            draft.report(Kind::NoFinishReason { what: format!("{} {index}", rules.unit) });
        }
    }
    if rules.usage && draft.usage.is_none() && draft.has_outputs() {
        draft.report(Kind::UsageMissing);
    }
}

/// Values that look cumulative in a format of deltas, or are found to be where either may be
/// (`FORMATS.md` F.4): one finding for the stream.
fn cumulative(draft: &mut Draft) {
    let decided = draft.parts.iter().find(|part| part.is_cumulative());
    let evidence = decided.map(|part| part.tally.words()).or_else(|| {
        draft.rules().deltas.then(|| draft.parts.iter().find_map(|part| part.tally.evidence()))?
    });
    if let Some(evidence) = evidence {
        draft.report(Kind::Cumulative { evidence });
    }
}
