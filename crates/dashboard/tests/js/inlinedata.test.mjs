// Shapes: the APIs' own references (OpenAI image_url and input_audio, Anthropic image source, Gemini inlineData, Ollama images).
import assert from "node:assert/strict";
import { test } from "node:test";
import { withoutData } from "../../assets/inlinedata.js";
import { messagesOf } from "../../assets/messages.js";

const bytes = 900;
const data = Buffer.alloc(bytes, 7).toString("base64");
const shown = (value) => JSON.parse(withoutData(JSON.stringify(value)));

test("data is shown as its size, whatever API sends it", () => {
  const table = [
    [{ type: "image_url", image_url: { url: `data:image/png;base64,${data}` } }, { type: "image_url", image_url: { url: "[image/png, 900 B]" } }],
    [{ type: "input_audio", input_audio: { data, format: "wav" } }, { type: "input_audio", input_audio: { data: "[base64, 900 B]", format: "wav" } }],
    [{ type: "image", source: { type: "base64", media_type: "image/png", data } }, { type: "image", source: { type: "base64", media_type: "image/png", data: "[base64, 900 B]" } }],
    [{ inlineData: { mimeType: "image/png", data } }, { inlineData: { mimeType: "image/png", data: "[base64, 900 B]" } }],
    [{ role: "user", content: "what is it", images: [data, data] }, { role: "user", content: "what is it", images: ["[base64, 900 B]", "[base64, 900 B]"] }],
    [`see ![x](data:image/jpeg;base64,${data}) here`, "see ![x]([image/jpeg, 900 B]) here"],
  ];
  for (const [value, expected] of table) assert.deepEqual(shown(value), expected);
  // As PHP writes it.
  assert.equal(withoutData(JSON.stringify(`data:image/png;base64,${data}`).replaceAll("/", "\\/")), '"[image/png, 900 B]"');
});

test("words, ids and signatures stay", () => {
  for (const value of [{ data: "short" }, { data: "many words ".repeat(100) }, { signature: data }, { text: data }, { images: ["cat.png"] }]) assert.deepEqual(shown(value), value);
});

test("a message's images are parts with their size", () => {
  const body = { messages: [{ role: "user", content: "look", images: [data] }, { role: "user", content: [{ type: "image_url", image_url: { url: `data:image/png;base64,${data}` } }] }] };
  const { messages } = messagesOf(shown(body));
  assert.deepEqual(messages.map((message) => message.parts.map((part) => part.text ?? part.label)), [["look", "image [base64, 900 B]"], ["image_url [image/png, 900 B]"]]);
  assert.ok(!JSON.stringify(messages).includes(data.slice(0, 64)));
});
