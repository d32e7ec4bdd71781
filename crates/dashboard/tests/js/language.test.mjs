import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";
import { CHINESE } from "../../assets/chinese.js";
import { KINDS, failureOf } from "../../assets/chinesefailures.js";
import { FINDINGS, sentenceOf } from "../../assets/chinesefindings.js";
import { carriedOf, jsonFault, meaningOf, thing } from "../../assets/chinesewire.js";
import { MEANINGS } from "../../assets/chinesemeanings.js";
import { ENGLISH } from "../../assets/english.js";

/** The places of an entry: the names in braces, or those that its function asks for. */
function places(entry) {
  if (typeof entry === "string") return [...entry.matchAll(/\{(\w+)\}/g)].map(([, name]) => name).sort();
  const asked = new Set();
  entry(new Proxy({}, { get: (_target, name) => (asked.add(name), 2) }));
  return [...asked].sort();
}

test("both catalogues have the same keys", () => {
  assert.deepEqual(Object.keys(CHINESE).sort(), Object.keys(ENGLISH).sort());
});

test("both catalogues have the same places", () => {
  for (const [key, entry] of Object.entries(ENGLISH)) {
    // What English joins or capitalises itself takes a text.
    if (key === "compare.rest" || key === "compare.only-in") continue;
    assert.deepEqual(places(CHINESE[key]), places(entry), key);
  }
  for (const key of ["compare.rest", "compare.only-in"]) {
    for (const words of [ENGLISH, CHINESE]) {
      const values = { name: "B", what: "Something.", parts: "one, two" };
      const text = typeof words[key] === "function" ? words[key](values) : words[key].replace(/\{(\w+)\}/g, (_, name) => values[name]);
      assert.match(text, /omething|ne, two/, key);
    }
  }
});

test("Chinese has no Latin punctuation beside Chinese, and a space between the two scripts", () => {
  for (const [key, entry] of Object.entries(CHINESE)) {
    const text = typeof entry === "string" ? entry : String(entry);
    assert.doesNotMatch(text, /[\u4e00-\u9fff][,;:!?]|[\u4e00-\u9fff]\.(?:$|\s)/, key);
    assert.doesNotMatch(text.replace(/\$\{[^}]*\}|\{\w+\}/g, ""), /[\u4e00-\u9fff][A-Za-z]|[A-Za-z][\u4e00-\u9fff]/, key);
  }
});

/** Every entry of the catalogue of findings: its id and the names of its facts. */
function catalogue() {
  const source = readFileSync(new URL("../../../finding/src/catalogue.rs", import.meta.url), "utf8");
  const table = source.slice(source.indexOf("\ncatalogue! {"), source.indexOf("\nimpl Kind {"));
  const entries = [];
  for (const [, fields, id] of table.matchAll(/^ {4}[A-Z]\w+(?: \{\n([\s\S]*?)^ {4}\})? = "([a-z0-9-]+)",/gm)) {
    entries.push({ id, facts: [...(fields ?? "").matchAll(/^ {8}(\w+): /gm)].map(([, name]) => name) });
  }
  return entries;
}

test("every finding has its Chinese title, sentence, why and what to do", () => {
  const entries = catalogue();
  assert.ok(entries.length > 40, `${entries.length} entries were found`);
  assert.deepEqual(Object.keys(FINDINGS), entries.map((entry) => entry.id));
  for (const { id, facts } of entries) {
    const { title, why, advice, sentence } = FINDINGS[id];
    for (const words of [title, why, advice]) assert.match(words, /[\u4e00-\u9fff]/, id);
    assert.match(why, /。$/, id);
    assert.match(advice, /。$/, id);
    const asked = new Set();
    const said = sentence(new Proxy({}, { get: (_target, name) => (asked.add(name), name === "empty" || name === "array" || name === "finished" || name === "document" || name === "glued" || name === "event_only" ? false : 7) }));
    assert.match(said, /[\u4e00-\u9fff]/, id);
    for (const name of asked) assert.ok(facts.includes(name), `${id} has no fact ${String(name)}`);
  }
});

test("a finding's sentence has the values of the case", () => {
  const table = [
    [{ id: "connection-broke", args: { how: "reset", frames: 148, bytes: 41_431, after_ms: 6410 } }, "上游在 148 帧、41,431 字节之后断开了连接（reset），用时 6,410 ms。"],
    [{ id: "no-end", args: { expected: "`data: [DONE]`", finished: true } }, "流结束了却没有 `data: [DONE]`，尽管每个选项都有结束原因。"],
    [{ id: "no-finish-reason", args: { what: "choice 1" } }, "流结束了，选项 1 没有结束原因。"],
    [{ id: "incomplete", args: { reason: "" } }, "回答不完整。"],
    [{ id: "of-tomorrow", args: {} }, null],
  ];
  for (const [finding, expected] of table) assert.equal(sentenceOf(finding), expected);
});

test("what the reader says is said in Chinese, and wire words stay", () => {
  const carried = [
    ["text +14", "正文 +14"], ["tool 0 args +12", "工具 0 参数 +12"], ["tool 0 get_weather", "工具 0 get_weather"], ["finish end_turn, usage", "结束原因 end_turn，用量"],
    ["block 1 opened", "块 1 打开"], ["choice 1 text +3", "选项 1 正文 +3"], ["output item 0 closed", "输出项 0 关闭"], ["mcp-call +3", "mcp-call +3"],
    ["error: a, b", "错误：a, b"], ["something new", "something new"],
  ];
  for (const [english, chinese] of carried) assert.equal(carriedOf(english), chinese);
  assert.equal(thing("the text of output item 2"), "输出项 2 的正文");
  assert.equal(thing("message `m1`"), "消息 `m1`");
  assert.equal(meaningOf("The model finished its turn."), "模型说完了。");
  assert.equal(meaningOf("In English."), "In English.");
});

test("why there was no answer is said in Chinese, with its values", () => {
  const failures = [
    ["connect-failed", "the name x.example cannot be resolved (no such host); check the upstream's URL and the network", "无法解析名称 x.example（no such host）。请检查上游的 URL 和网络"],
    ["connect-failed", "no connection to 127.0.0.1 port 9 (Connection refused (os error 111)); is it running, and is its URL right?", "无法连接 127.0.0.1 端口 9（Connection refused (os error 111)）。它在运行吗，URL 对吗"],
    ["upstream-timeout", "no connection to x.example port 443 within 10s; is the network, a VPN or a firewall in the way?", "10s 内无法连接 x.example 端口 443。是否被网络、VPN 或防火墙挡住"],
    ["tls-failed", "no TLS connection with x.example: expired; renew it", "与 x.example 无法建立 TLS 连接：expired; renew it"],
    ["connect-failed", "of tomorrow", "无法连接上游：of tomorrow"],
    ["of-tomorrow", "of tomorrow", "of tomorrow"],
  ];
  for (const [kind, english, chinese] of failures) assert.equal(failureOf(kind, english), chinese);
  // Every kind of the proxy has its meaning.
  const source = readFileSync(new URL("../../../proxy/src/failure.rs", import.meta.url), "utf8");
  const kinds = [...source.matchAll(/Self::\w+ => "([a-z-]+)",/g)].map(([, kind]) => kind);
  assert.ok(kinds.length > 6, String(kinds));
  assert.deepEqual(Object.keys(KINDS), kinds);
});

test("why a text is not JSON is said in Chinese", () => {
  const faults = [
    ["it ends at byte 7 where `:` is due", "在第 7 字节处结束，那里应是 `:`"],
    ["it ends at byte 12 where a character of the string or its closing quote is due", "在第 12 字节处结束，那里应是字符串的字符或右引号"],
    ["it ends at byte 3 inside `true`", "在第 3 字节处结束，`true` 没写完"],
    ["`null` is broken at byte 2 by `x`", "`null` 在第 2 字节处被 `x` 打断"],
    ["a name or `}` is due at byte 1, not a line feed", "第 1 字节处应是名称或 `}`，而不是换行"],
    ["`,` or `]` is due at byte 4, not the control character U+0001", "第 4 字节处应是 `,` 或 `]`，而不是控制字符 U+0001"],
    ["of tomorrow", "of tomorrow"],
  ];
  for (const [english, chinese] of faults) assert.equal(jsonFault(english), chinese);
  // Every word of the reader for what is due has its own.
  const source = readFileSync(new URL("../../../decoder/src/json.rs", import.meta.url), "utf8");
  const due = [...source.matchAll(/Due::\w+ => "(.*)",/g)].map(([, words]) => words);
  assert.ok(due.length > 10, String(due));
  for (const words of due) assert.doesNotMatch(jsonFault(`${words} is due at byte 1, not a tab`), /[a-z]{3}/, words);
});

/** The sentences of the assembler for finish reasons and errors. */
function meanings() {
  const folder = new URL("../../../assembler/src/", import.meta.url);
  const found = new Set();
  for (const name of readdirSync(folder, { recursive: true })) {
    if (!name.endsWith(".rs")) continue;
    const source = readFileSync(new URL(name, folder), "utf8").split("#[cfg(test)]")[0];
    for (const [, first, second, third] of source.matchAll(
      /\b(?:reason|own)\(\s*"[^"]+",\s*"([^"]+)"|\(\s*"[\w. -]+",\s*"([A-Z][^"]*\.)",?\s*\)|\bmeaning:\s*"([^"]+)"/g,
    )) {
      found.add(first ?? second ?? third);
    }
  }
  return found;
}

test("every meaning of a finish reason or an error has its Chinese sentence", () => {
  const english = meanings();
  assert.ok(english.size > 150, `${english.size} sentences were found`);
  for (const sentence of english) assert.ok(Object.hasOwn(MEANINGS, sentence), sentence);
  for (const sentence of Object.values(MEANINGS)) {
    assert.match(sentence, /[\u4e00-\u9fff].*。$/);
    assert.doesNotMatch(sentence.replace(/`[^`]*`/g, ""), /[\u4e00-\u9fff][A-Za-z]|[A-Za-z][\u4e00-\u9fff]/, sentence);
  }
});
