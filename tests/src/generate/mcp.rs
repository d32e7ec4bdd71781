//! MCP over streamable HTTP (`FORMATS.md` H10): what the server says on the way, then the response.

use serde_json::{Value, json};

use super::{Answer, Generated, Generator, Random, body::Sse};

pub(super) const GENERATOR: Generator =
    Generator { name: "mcp", format: "mcp", objects: false, make, official: make };

fn make(seed: u64) -> Generated {
    let mut random = Random::new(seed, "mcp");
    let mut answer = Answer::default();
    let named = random.chance(70);
    let resumable = random.chance(40);
    let mut messages = Vec::new();
    for _ in 0..random.count(0, 5) {
        messages.push(remark(&mut random));
    }
    let mut content = Vec::new();
    for _ in 0..random.count(1, 3) {
        content.push(match random.below(4) {
            0 => json!({ "type": "image", "data": random.base64(), "mimeType": "image/png" }),
            1 => json!({ "type": "resource_link", "uri": "file:///a", "name": random.text() }),
            _ => {
                let text = random.text();
                answer.text.push_str(&text);
                json!({ "type": "text", "text": text })
            }
        });
    }
    let mut result = json!({ "content": content, "isError": false });
    if random.chance(30) {
        result["structuredContent"] = random.object(2);
    }
    let id = if random.chance(50) { json!(random.below(1 << 50)) } else { json!(random.id("")) };
    let response = json!({ "jsonrpc": "2.0", "id": id, "result": result });
    messages.push(response.clone());

    let mut body = Sse::new(&mut random, ": ping");
    if resumable {
        // The frame that a client comes back to: an id and no data.
        body.line("id: 0");
        body.line("retry: 3000");
        body.raw("");
    }
    for (place, message) in messages.iter().enumerate() {
        if resumable {
            body.line(&format!("id: {}", place + 1));
        }
        if named {
            body.named("message", message);
        } else {
            body.data(message);
        }
    }
    Generated { stream: body.stream("mcp", seed), response, outputs: vec![answer] }
}

/// A notification, or a request of the server's.
fn remark(random: &mut Random) -> Value {
    match random.below(3) {
        0 => {
            json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": { "progressToken": "p", "progress": random.below(9) } })
        }
        1 => {
            json!({ "jsonrpc": "2.0", "method": "notifications/message", "params": { "level": "info", "data": random.text() } })
        }
        _ => {
            json!({ "jsonrpc": "2.0", "id": random.id("s-"), "method": "sampling/createMessage", "params": { "messages": [], "maxTokens": 10 } })
        }
    }
}
