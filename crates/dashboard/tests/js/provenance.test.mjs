import assert from "node:assert/strict";
import { test } from "node:test";
import { Provenance } from "../../assets/provenance.js";

const bytes = (text) => new TextEncoder().encode(text).length;

/** The entries of pieces that came in frames 0, 1, 2 …, as the server counts them. */
const entries = (pieces) => pieces.map((piece, frame) => [frame, 0, 0, bytes(piece)]);

test("every character belongs to the frame that brought it", () => {
  const pieces = ["Hel", "lo ", "é", "世界", "👍🏽", "\n", "e\u0301", "x"];
  const text = pieces.join("");
  const log = new Provenance();
  log.add(entries(pieces));
  const runs = log.of(0, 0, text);
  let at = 0;
  pieces.forEach((piece, frame) => {
    assert.deepEqual(runs.ranges(frame, frame), [[at, at + piece.length]], piece);
    for (let i = at; i < at + piece.length; i += 1) assert.equal(runs.frameAt(i), frame, piece);
    at += piece.length;
    assert.equal(runs.lengthAt(frame), at);
  });
  assert.equal(runs.frameAt(text.length), null);
  assert.deepEqual(runs.summary(), { first: 0, last: 7, count: 8 });
});

test("what is worked out stays right while the text grows", () => {
  const pieces = ["ab", "ü", "𝄞", "cd"];
  const log = new Provenance();
  let text = "";
  entries(pieces).forEach((entry, i) => {
    log.add([entry]);
    // The entry may be here before its text.
    log.of(0, 0, text);
    text += pieces[i];
    assert.equal(log.of(0, 0, text).frameAt(text.length - 1), i);
  });
});

test("neighbouring runs of a span are one range, and a frame may come twice", () => {
  const log = new Provenance();
  log.add([[0, 0, 0, 2], [1, 0, 0, 2], [3, 0, 0, 1], [3, 0, 0, 1], [0, 1, 0, 4]]);
  assert.deepEqual(log.of(0, 0, "aabbcd").ranges(1, 3), [[2, 6]]);
  assert.deepEqual(log.of(0, 0, "aabbcd").ranges(0, 0), [[0, 2]]);
  assert.deepEqual(log.of(1, 0, "wxyz").ranges(0, 0), [[0, 4]]);
  assert.deepEqual(log.of(2, 0, "").ranges(0, 9), []);
});

test("text that was rewritten belongs to the frame that rewrote it", () => {
  const log = new Provenance();
  log.add([[0, 0, 0, 5], [1, 0, 0, 3]]);
  log.of(0, 0, "helloabc");
  // Frame 2 takes four bytes off the end and adds "y!".
  log.add([[2, 0, 0, 2, 4]]);
  const runs = log.of(0, 0, "helly!");
  assert.deepEqual(runs.ranges(0, 0), [[0, 4]]);
  assert.deepEqual(runs.ranges(1, 1), []);
  assert.deepEqual(runs.ranges(2, 2), [[4, 6]]);
});
