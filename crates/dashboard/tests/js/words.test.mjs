import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";
import { count, delta, duration, oneLine, shortFormat, size } from "../../assets/format.js";
import { completions, isFilter, segmentOf, tokens } from "../../assets/query.js";
import { t } from "../../assets/words.js";

test("times and sizes are written as the design has them (section 9)", () => {
  assert.deepEqual([612, 5440, 14_900, 125_000].map((ms) => duration(ms)), ["612 ms", "5.44 s", "14.9 s", "2 m 05 s"]);
  assert.equal(duration(14_860, { exact: true }), "14.86 s");
  assert.deepEqual([0, 999.4, 999.6, 59_949, 59_960, 3_600_000].map((ms) => duration(ms)), ["0 ms", "999 ms", "1.00 s", "59.9 s", "1 m 00 s", "1 h 00 m"]);
  assert.deepEqual([16_611, 1_200_000].map(size), ["16,611 B", "1.2 MB"]);
  assert.deepEqual([38, 3240].map(delta), ["+38", "+3.24s"]);
  assert.deepEqual([null, undefined, 0, 12_904].map(count), ["—", "—", "0", "12,904"]);
  assert.equal(oneLine("a\n\n**At"), "a\\n\\n**At");
});

test("a format's name is short, and left out where it repeats the upstream", () => {
  const table = [
    ["openai-responses", "openai", "responses"],
    ["openai-chat", "deepseek", "chat"],
    ["anthropic-messages", "litellm", "messages"],
    ["gemini", "gemini", ""],
    ["ollama", "ollama", ""],
    ["bedrock-converse", "bedrock", "converse"],
    ["unknown", "x", ""],
    [null, "x", ""],
    ["llama-cpp", "x", "llama-cpp"],
  ];
  for (const [format, upstream, short] of table) assert.equal(shortFormat(format, upstream), short, format);
});

test("queries fall into words, phrases and filters", () => {
  assert.deepEqual(tokens('since:2h -status:404 "two words" model:"a b" word'), ["since:2h", "-status:404", '"two words"', 'model:"a b"', "word"]);
  assert.deepEqual(["state:open", "-model:x", "http://x", "state:", "nothing:x", "word"].map(isFilter), [true, true, false, false, false, false]);
  assert.equal(segmentOf(["since:2h", "state:broken"]), "broken");
  assert.equal(segmentOf(["since:2h"]), "all");
  assert.deepEqual(completions("st", {}), ["state:", "status:", "streamed:"]);
  assert.deepEqual(completions("-model:g", { model: ["gpt-4o", "claude", "my g model"] }), ["-model:gpt-4o", '-model:"my g model"']);
});

test("every key that the scripts use has words", () => {
  const folder = new URL("../../assets/", import.meta.url);
  for (const file of readdirSync(folder).filter((name) => name.endsWith(".js") && !/^(english|chinese)/.test(name))) {
    const source = readFileSync(new URL(file, folder), "utf8");
    for (const [, key] of source.matchAll(/\bt\("([\w.-]+)"/g)) assert.notEqual(t(key, { n: 2, parts: "a", what: "a" }), key, `${file}: ${key}`);
    for (const [, key] of source.matchAll(/(?:words|hintWords): "([\w.-]+)"/g)) assert.ok(key === "hint.rows" || t(key) !== key, `${file}: ${key}`);
  }
});
