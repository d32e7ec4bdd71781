//! What the reasons of the models behind Bedrock mean, and its errors.

use crate::{anthropic_messages, bedrock_converse, cohere, format::Reason, openai_chat};

const AWS: &str = "AWS's documentation of the models behind Bedrock";

const OWN: &[Reason] = &[
    own("FINISH", "The answer came to its natural end."),
    own("FINISHED", "The answer came to its natural end."),
    own("LENGTH", "The token limit of the request or of the model was reached; the answer is cut."),
    own("STOP_CRITERIA_MET", "One of the request's stop sequences matched."),
    own("RAG_QUERY_WHEN_RAG_DISABLED", "The request asked for retrieval, which is not configured."),
    own("CONTENT_FILTERED", "A filter withheld or cut the answer."),
];

const fn own(value: &'static str, meaning: &'static str) -> Reason {
    Reason { value, meaning, source: AWS }
}

/// Those of all vendors, the more special ones first.
const LISTS: [&[Reason]; 5] = [
    OWN,
    bedrock_converse::REASONS,
    anthropic_messages::FORMAT.reasons,
    openai_chat::REASONS,
    cohere::FORMAT.reasons,
];

const COUNT: usize =
    LISTS[0].len() + LISTS[1].len() + LISTS[2].len() + LISTS[3].len() + LISTS[4].len();

pub(super) const REASONS: &[Reason] = &joined();

const fn joined() -> [Reason; COUNT] {
    let mut all = [OWN[0]; COUNT];
    let (mut list, mut count) = (0, 0);
    while list < LISTS.len() {
        let mut at = 0;
        while at < LISTS[list].len() {
            all[count] = LISTS[list][at];
            count += 1;
            at += 1;
        }
        list += 1;
    }
    all
}

pub(super) const ERRORS: &[(&str, &str)] = bedrock_converse::ERRORS;
