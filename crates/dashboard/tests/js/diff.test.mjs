import assert from "node:assert/strict";
import { test } from "node:test";
import { compareAnswers } from "../../assets/compareanswer.js";
import { align, fields, lines, within } from "../../assets/diff.js";

/** The length of a longest common subsequence, by the textbook's table. */
function longest(a, b) {
  const table = Array.from({ length: a.length + 1 }, () => new Array(b.length + 1).fill(0));
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let k = b.length - 1; k >= 0; k -= 1) table[i][k] = a[i] === b[k] ? table[i + 1][k + 1] + 1 : Math.max(table[i + 1][k], table[i][k + 1]);
  }
  return table[0][0];
}

test("aligned sequences lack nothing and have the most in common that they can have", () => {
  let seed = 1;
  const random = (n) => (seed = (seed * 48_271) % 2_147_483_647) % n;
  const sequence = () => Array.from({ length: random(12) }, () => "abc"[random(3)]);
  for (let n = 0; n < 3000; n += 1) {
    const [a, b] = [sequence(), sequence()];
    let [atA, atB, same] = [0, 0, 0];
    for (const hunk of align(a, b)) {
      assert.deepEqual([hunk.a[0], hunk.b[0]], [atA, atB]);
      [atA, atB] = [hunk.a[1], hunk.b[1]];
      if (!hunk.same) continue;
      assert.deepEqual(a.slice(...hunk.a), b.slice(...hunk.b));
      same += hunk.a[1] - hunk.a[0];
    }
    assert.deepEqual([atA, atB], [a.length, b.length]);
    assert.equal(same, longest(a, b), `${a} / ${b}`);
  }
});

test("sequences that have nothing in common are not searched for ever", () => {
  const many = (letter) => Array.from({ length: 20_000 }, (_, i) => `${letter}${i}`);
  assert.deepEqual(align(["x", ...many("a"), "y"], ["x", ...many("b"), "y"]).map((hunk) => hunk.same), [true, false, true]);
});

test("within a line the words that differ are marked, to the character", () => {
  const [a, b] = ["- Walk briskly but don't run", "- Walk briskly but don\u{fffd}t run"];
  const found = within(a, b);
  assert.deepEqual([found.a, found.b], [[[22, 23]], [[22, 23]]]);
  assert.equal(within("one thing", "quite another matter"), null);
});

test("texts are aligned by content: an inserted line moves nothing", () => {
  const rows = lines("one\ntwo\nthree", "zero\none\ntwo\nthree!");
  assert.deepEqual(rows.map((row) => [row.same, row.a, row.b]), [[false, null, "zero"], [true, "one", "one"], [true, "two", "two"], [false, "three", "three!"]]);
  assert.deepEqual(lines("", ""), []);
});

test("JSON differs where its content does, not where its keys are in another order", () => {
  assert.deepEqual(fields({ a: 1, b: { c: [1, 2] } }, { b: { c: [1, 2] }, a: 1 }), []);
  assert.deepEqual(fields({ model: "m", messages: ["x", "y"] }, { model: "n", messages: ["w", "x", "y"], stream: true }), [
    { path: "model", a: "m", b: "n" },
    { path: "messages[0]", a: undefined, b: "w" },
    { path: "stream", a: undefined, b: true },
  ]);
  assert.deepEqual(fields(undefined, { a: 1 }), [{ path: "", a: undefined, b: { a: 1 } }]);
});

const reading = (text, more = {}) => ({ error: null, outputs: [{ text, reasoning: "", refusal: "", tool_calls: [], ...more }] });

test("what two answers have in common is counted", () => {
  assert.deepEqual(pick(compareAnswers(reading("a\nb"), reading("a\nb"))), { all: 2, differing: 0, only: null, characters: 0, none: false });
  assert.deepEqual(pick(compareAnswers(reading("it's so"), reading("it\u{fffd}s so"))), { all: 1, differing: 1, only: null, characters: 1, none: false });
  assert.deepEqual(pick(compareAnswers(reading("a"), reading(""))), { all: 1, differing: 1, only: "A", characters: null, none: false });
  assert.equal(compareAnswers(reading(""), reading("")).none, true);
  const call = (id, args) => ({ tool_calls: [{ index: 0, id, name: "f", arguments: args }] });
  // Ids differ in every answer; what is called with what does not.
  assert.equal(compareAnswers(reading("", call("call_1", '{"a":1}')), reading("", call("call_2", '{ "a": 1 }'))).differing, 0);
});

const pick = ({ all, differing, only, characters, none }) => ({ all, differing, only, characters, none });
