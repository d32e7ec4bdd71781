//! How the response ended, and which output is the answer (`FORMATS.md` B.5, B.6).

use std::collections::{BTreeMap, HashMap, VecDeque};

use teeline_finding::Kind;

use crate::{
    draft::Draft,
    failure::Fault,
    json::{Json, Object},
};

use super::{Responses, item::Item};

impl Responses {
    /// The terminal event.
    pub(super) fn terminal(&mut self, frame: &Object<'_>, status: &str, draft: &mut Draft) {
        let value = frame.get("response").unwrap_or(Json::NULL);
        let response = value.object();
        if response.is_none() && !value.is_null() {
            draft.bad_field("response", "an object", value);
        }
        self.terminate(response.as_ref().map(|response| (value, response)), status, draft);
    }

    /// The response is as it will stay; `event` is the status that the event names, which counts where the
    /// object has none.
    pub(super) fn terminate(
        &mut self,
        response: Option<(Json<'_>, &Object<'_>)>,
        event: &str,
        draft: &mut Draft,
    ) {
        self.is_terminated = true;
        if let Some((raw, response)) = response {
            self.head(response, draft);
            self.take_output(raw, response, draft);
            draft.rest_on_final();
        }
        let response = response.map(|(_, response)| response);
        let own = response.and_then(|response| response.filled("status"));
        let status = own.as_deref().unwrap_or(event);
        if event == "failed" || status == "failed" {
            if !draft.has_failed() {
                draft.fail(fault(response));
            }
            if !draft.has_outputs() {
                return;
            }
        } else {
            draft.output(0);
            draft.end();
        }
        draft.role(0, "assistant");
        draft.stop(0, status);
        if event == "incomplete" || status == "incomplete" {
            incomplete(response, draft);
        }
    }

    /// The answer is the final object's output if it has one, else what was assembled.
    fn take_output(&mut self, raw: Json<'_>, response: &Object<'_>, draft: &mut Draft) {
        let output = response.get("output").and_then(Json::items).unwrap_or_default();
        if !output.is_empty() {
            if draft.admit(raw.raw().len()) {
                self.verbatim = Some(raw.compact());
            }
            self.items.rest(&output, draft);
        } else if !self.items.is_empty() {
            draft.remark("the final object carried no output");
        }
    }
}

fn fault(response: Option<&Object<'_>>) -> Fault {
    match response.and_then(|response| response.some("error")) {
        Some(error) => Fault::of_object(error),
        None => Fault {
            message: "the response failed and gave no error".to_owned(),
            error_type: None,
            code: None,
            raw: "null".into(),
        },
    }
}

/// The answer is real and partial.
fn incomplete(response: Option<&Object<'_>>, draft: &mut Draft) {
    let details = response.and_then(|response| response.get("incomplete_details"));
    let reason = details.and_then(|details| details.get("reason")).and_then(Json::str);
    let reason = reason.unwrap_or_default();
    draft.stop_detail(0, &reason);
    if !draft.is_document() {
        draft.report(Kind::Incomplete { reason: teeline_finding::excerpt(&reason) });
    }
}

/// Which known item each item of the final output is: as many as were assembled are the same in order, else
/// they are told by their index. Where that pairs items of two types, the n-th of a type is the n-th.
pub(super) fn pairs(
    known: &BTreeMap<u64, Item>,
    finals: &[(u64, usize, Object<'_>)],
) -> Vec<Option<u64>> {
    let in_order: Vec<u64> = known.keys().copied().collect();
    let same_number = in_order.len() == finals.len();
    let by_place: Vec<Option<u64>> = (0..)
        .zip(finals)
        .map(|(at, (index, ..))| {
            let index = if same_number { in_order.get::<usize>(at).copied() } else { Some(*index) };
            index.filter(|index| known.contains_key(index))
        })
        .collect();
    let fits = |(place, (_, _, item)): (&Option<u64>, &(u64, usize, Object<'_>))| {
        place.and_then(|index| known.get(&index)).is_none_or(|known| known.is_of_type(item))
    };
    if by_place.iter().zip(finals).all(fits) {
        return by_place;
    }
    let mut of_type: HashMap<&str, VecDeque<u64>> = HashMap::new();
    for (index, item) in known {
        of_type.entry(item.type_name()).or_default().push_back(*index);
    }
    finals
        .iter()
        .map(|(_, _, item)| of_type.get_mut(&*item.str("type").unwrap_or_default())?.pop_front())
        .collect()
}
