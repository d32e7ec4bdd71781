// Three streams to try on the page that reads pasted ones.

const sse = (...events) => events.map(([event, data]) => `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`).join("");
const chunk = (delta, finish = null, extra = {}) =>
  `data: ${JSON.stringify({ id: "chatcmpl-example", object: "chat.completion.chunk", created: 1767323045, model: "gpt-4o-mini", choices: [{ index: 0, delta, finish_reason: finish }], ...extra })}\n\n`;
const call = (index, rest) => ({ tool_calls: [{ index, ...rest }] });
const fragment = (index, text) => chunk(call(index, { function: { arguments: text } }));

/** Two parallel calls whose arguments come in interleaved fragments. */
const TOOL =
  chunk({ role: "assistant", content: null }) +
  chunk(call(0, { id: "call_1", type: "function", function: { name: "get_weather", arguments: "" } })) +
  fragment(0, '{"loca') +
  fragment(0, 'tion": "New') +
  chunk(call(1, { id: "call_2", type: "function", function: { name: "get_time", arguments: "" } })) +
  fragment(1, '{"timezone"') +
  fragment(0, ' York"}') +
  fragment(1, ': "America/New_York"}') +
  chunk({}, "tool_calls") +
  "data: [DONE]\n\n";

const POEM = ["In loops", " and lines", " of coded art,\n", "There lies", " a trick", " to play", " your part:\n", "A function", " bold,", " both old", " and new,\n"];

/** An answer that stops inside a frame. */
const CUT = chunk({ role: "assistant", content: "" }) + POEM.map((content) => chunk({ content })).join("") + chunk({ content: "That calls itself" }).slice(0, 118);

/** Lines with the time at which each came, as `teeline export --as stamped` and other tools write them. */
function stamped() {
  const start = { type: "message_start", message: { id: "msg_example", type: "message", role: "assistant", model: "claude-sonnet-4-6", content: [], stop_reason: null, usage: { input_tokens: 11, output_tokens: 1 } } };
  const text = (value) => ["content_block_delta", { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: value } }];
  const args = (value) => ["content_block_delta", { type: "content_block_delta", index: 1, delta: { type: "input_json_delta", partial_json: value } }];
  const events = [
    [0, ["message_start", start]],
    [82, ["content_block_start", { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } }]],
    [188, text("I will write")],
    [240, text(" the file.")],
    [357, ["content_block_stop", { type: "content_block_stop", index: 0 }]],
    [1674, ["content_block_start", { type: "content_block_start", index: 1, content_block: { type: "tool_use", id: "toolu_1", name: "write", input: {} } }]],
    [1962, args('{"file_')],
    [2137, args('path": "a.py", ')],
    [2561, args('"content": "x = 1\\n"}')],
    [2600, ["content_block_stop", { type: "content_block_stop", index: 1 }]],
    [2710, ["message_delta", { type: "message_delta", delta: { stop_reason: "tool_use" }, usage: { output_tokens: 41 } }]],
    [2712, ["message_stop", { type: "message_stop" }]],
  ];
  const at = Date.UTC(2026, 0, 2, 20, 41, 18, 522);
  return events
    .map(([ms, event]) => {
      const stamp = new Date(at + ms).toISOString().replace("Z", "000Z");
      return sse(event).trimEnd().split("\n").concat("").map((line) => `${stamp} ${line}\n`).join("");
    })
    .join("");
}

export const EXAMPLES = { tool: () => TOOL, cut: () => CUT, stamped };
