// `node --test crates/dashboard/tests/js`
import assert from "node:assert/strict";
import { test } from "node:test";
import { check, member, parse, pretty } from "../../assets/json.js";

test("valid JSON is what JSON.parse takes", () => {
  const texts = [
    "{}", "[]", "0", "-1.5e+3", '""', "true", "null", ' {"a" : [1, {"b": "c"}] } ', '"\\u00e9\\\\\\""', "[[[]]]",
    "", " ", "{", "[", '{"a"', '{"a":', '{"a":1', '{"a":1,', "[1,", "[1 2]", "{a:1}", "01", "1.", "-", "tru", "nul", '"', '"\n"', "[]]", "{}x",
    "[,1]", '{"a":1,}', "[1,]", "'a'", "NaN", '{"a":1 "b":2}', '{1:2}', "1e", "+1", '"a" "b"', "{]", "[}",
  ];
  for (const text of texts) {
    let valid = true;
    try {
      JSON.parse(text);
    } catch {
      valid = false;
    }
    assert.equal(check(text).valid, valid, text);
  }
});

test("where a text stops being JSON is told", () => {
  const at = (text) => {
    const { at, ends, opener } = check(text);
    return [at, ends, opener];
  };
  // The picture of a tool call that ran into the token limit: 32 characters, the string opened at the 24th.
  assert.deepEqual(at('{"path":"a.txt","text":"Lorem ip'), [32, true, 23]);
  assert.deepEqual(at('{"a": [1, 2'), [11, true, 6]);
  assert.deepEqual(at('{"a" 1}'), [5, false, 0]);
  assert.deepEqual(at('{"a":1} x'), [8, false, null]);
  assert.deepEqual(at(""), [0, true, null]);
});

test("indenting changes nothing but white space, and says where each character went", () => {
  for (const text of ['{"a":1,"b":[true,{"c":"x y"}],"d":{},"e":[]}', "[12345678901234567890,1e400,1.50]", '{"a":"\\n,:{}[]"}', "3"]) {
    const { text: indented, map } = pretty(text);
    assert.deepEqual(JSON.parse(indented), JSON.parse(text));
    for (let i = 0; i < text.length; i += 1) assert.equal(indented[map[i]], text[i], `${text} at ${i}`);
  }
  assert.equal(pretty('{"a":[1,{}]}').text, '{\n  "a": [\n    1,\n    {}\n  ]\n}');
  assert.match(pretty("[12345678901234567890, 1e400]").text, /12345678901234567890/);
});

test("members keep their source text", () => {
  const text = '{"x":"{\\"response\\":0}","reading":{"a":[1,2.50,"]"],"response":{"n":12345678901234567890},"z":1e400}}';
  assert.equal(member(text, ["reading", "response"]), '{"n":12345678901234567890}');
  assert.equal(member(text, ["reading", "a", 1]), "2.50");
  assert.equal(member(text, ["reading", "z"]), "1e400");
  assert.equal(member(text, ["reading", "nothing"]), null);
  assert.equal(member(text, ["x", "y"]), null);
});

test("a tree keeps literals and keys that came twice", () => {
  const tree = parse('{"a":1.0,"a":"b\\u0021","c":[null]}');
  assert.deepEqual(tree.entries.map(([key, node]) => [key, node.text ?? node.kind]), [["a", "1.0"], ["a", "b!"], ["c", "array"]]);
});
