//! Token counts of several messages, as one.

use crate::{
    draft::Tokens,
    json::Json,
    node::{Map, Node},
};

/// How deep counts are added up.
const DEPTH: u8 = 4;

/// Adds or subtracts counts, key by key; what is no count is the newest.
pub(super) fn combine(known: &mut Map, more: &Map, with: fn(u64, u64) -> u64) {
    combine_at(known, more, with, 0);
}

fn combine_at(known: &mut Map, more: &Map, with: fn(u64, u64) -> u64, depth: u8) {
    for (key, node) in more.iter() {
        let inner = node.json().and_then(Json::object).filter(|_| depth < DEPTH);
        match (inner, node.u64()) {
            (Some(inner), _) => {
                combine_at(known.entry(key).object(), &Map::from(&inner), with, depth + 1);
            }
            (None, Some(count)) => {
                let before = known.get(key).and_then(Node::u64).unwrap_or(0);
                known.set(key, with(before, count));
            }
            (None, None) => known.set(key, node.clone()),
        }
    }
}

/// The common counts.
pub(super) fn tokens(usage: &Map) -> Tokens {
    let count = |path: &[&str]| {
        let (first, rest) = path.split_first()?;
        usage.get(first)?.number_at(rest)
    };
    Tokens {
        input: count(&["input_tokens"]),
        output: count(&["output_tokens"]),
        total: count(&["total_tokens"]),
        cached: count(&["input_token_details", "cache_read"]),
        reasoning: count(&["output_token_details", "reasoning"]),
    }
}
