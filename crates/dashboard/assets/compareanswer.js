// Two answers beside each other, aligned by their lines. What is the same folds, what differs is blue on both sides.
import { lines } from "./diff.js";
import { fill, h, icon } from "./dom.js";
import { number } from "./format.js";
import { check, pretty } from "./json.js";
import { characters } from "./verdict.js";
import { t } from "./words.js";

/** Lines that stay in view around a difference. */
const AROUND = 6;
/** Fewer lines than these are not worth a fold. */
const LEAST_FOLD = 3;
/** Lines that are drawn at once. */
const STEP = 1500;

const argumentsOf = (call) => (check(call.arguments).valid ? pretty(call.arguments).text : call.arguments);

/** The pieces of an answer that can be compared, by a key that is the same on both sides. */
function piecesOf(reading) {
  const pieces = new Map();
  reading.outputs.forEach((output, i) => {
    const put = (kind, text, more = {}) => text && pieces.set(`${i} ${kind}`, { kind, output: i, text, ...more });
    put("reasoning", output.reasoning);
    put("text", output.text);
    put("refusal", output.refusal);
    output.tool_calls.forEach((call, k) => put(`tool ${k}`, `${call.name ?? "—"}\n${argumentsOf(call)}`, { name: call.name, mono: true }));
  });
  if (reading.error) pieces.set("error", { kind: "error", output: 0, text: [reading.error.type, reading.error.message].filter(Boolean).join("\n") });
  return pieces;
}

/** The same pieces of both, in the order of A and then of what only B has. */
function paired(a, b) {
  const [left, right] = [piecesOf(a), piecesOf(b)];
  const keys = [...new Set([...left.keys(), ...right.keys()])];
  keys.sort((x, y) => Number.parseInt(x, 10) - Number.parseInt(y, 10) || 0);
  return keys.map((key) => {
    const [one, two] = [left.get(key), right.get(key)];
    const rows = lines(one?.text ?? "", two?.text ?? "");
    return { ...(one ?? two), a: one?.text ?? null, b: two?.text ?? null, rows, differing: rows.filter((row) => !row.same).length };
  });
}

/** How many characters differ, where it is only within lines; `null` otherwise. */
function differingCharacters(pieces) {
  let n = 0;
  const width = (text, ranges) => ranges.reduce((sum, [from, to]) => sum + characters(text.slice(from, to)), 0);
  for (const { rows } of pieces) {
    for (const row of rows) {
      if (row.same) continue;
      if (!row.marks) return null;
      n += Math.max(width(row.a, row.marks.a), width(row.b, row.marks.b));
    }
  }
  return n;
}

/** What two answers have in common. */
export function compareAnswers(a, b) {
  const pieces = paired(a, b);
  const all = pieces.reduce((sum, piece) => sum + piece.rows.length, 0);
  const differing = pieces.reduce((sum, piece) => sum + piece.differing, 0);
  const only = pieces.length > 0 && pieces.every((piece) => piece.b === null) ? "A" : pieces.length > 0 && pieces.every((piece) => piece.a === null) ? "B" : null;
  return { pieces, all, differing, only, characters: differingCharacters(pieces), none: pieces.length === 0 };
}

/** A line with what differs in it marked. */
function marked(text, ranges) {
  const nodes = [];
  let at = 0;
  for (const [from, to] of ranges) {
    nodes.push(text.slice(at, from), h("mark", null, text.slice(from, to)));
    at = to;
  }
  nodes.push(text.slice(at));
  return nodes;
}

function cell(row, side) {
  const text = row[side];
  if (text === null) return h("div", { class: "cell none" }, h("span", { class: "visually-hidden" }, t("compare.not-in", { name: side.toUpperCase() })));
  return h("div", { class: "cell" }, row.same || text === "" ? text : row.marks ? marked(text, row.marks[side]) : h("mark", null, text));
}

const lineOf = (row) => h("div", { class: row.same ? "diff-row" : "diff-row differs" }, cell(row, "a"), cell(row, "b"));

/** Which rows fold: runs of equal ones, but for those around a difference. */
function folds(rows, same) {
  const groups = [];
  let i = 0;
  while (i < rows.length) {
    let end = i;
    while (end < rows.length && rows[end].same === rows[i].same) end += 1;
    const from = i + (i === 0 ? 0 : AROUND);
    const to = end - (end === rows.length ? 0 : AROUND);
    const fold = rows[i].same && !same && to - from >= LEAST_FOLD;
    if (!fold) groups.push({ from: i, to: end, fold: false });
    else groups.push({ from: i, to: from, fold: false }, { from, to, fold: true }, { from: to, to: end, fold: false });
    i = end;
  }
  return groups.filter((group) => group.from < group.to);
}

/** Rows that come in steps, so that a long text does not hold the page up. */
function drawRows(box, rows) {
  const step = (from) => {
    box.append(...rows.slice(from, from + STEP).map(lineOf));
    if (from + STEP >= rows.length) return;
    const more = h("button", { class: "fold", type: "button" }, icon("down"), t("compare.more-lines", { n: rows.length - from - STEP }));
    more.addEventListener("click", () => {
      more.remove();
      step(from + STEP);
    });
    box.append(more);
  };
  step(0);
}

function groupOf(piece, group) {
  const rows = piece.rows.slice(group.from, group.to);
  if (!group.fold) {
    const box = h("div", { class: "diff-rows" });
    drawRows(box, rows);
    return box;
  }
  const fold = h("button", { class: "fold", type: "button", "aria-expanded": "false" }, icon("right"), t("compare.lines-same", { n: rows.length }));
  fold.addEventListener("click", () => {
    const box = h("div", { class: "diff-rows" });
    drawRows(box, rows);
    fold.replaceWith(box);
  });
  return fold;
}

function labelOf(piece, several) {
  const names = { reasoning: t("answer.reasoning"), refusal: t("answer.refusal"), text: "", error: t("answer.error") };
  const name = names[piece.kind] ?? t("compare.call", { name: piece.name ?? "—" });
  return [several && t("answer.choice", { n: piece.output }), name].filter(Boolean).join(" · ");
}

/** A piece that is the same on both sides is one line that opens; what differs is shown. */
function pieceView(piece, several, same) {
  const label = labelOf(piece, several);
  const body = (open) => folds(piece.rows, open).map((group) => groupOf(piece, group));
  const mark = piece.kind === "reasoning" ? icon("rays") : piece.mono ? icon("wrench") : null;
  const classes = `diff ${piece.mono ? "mono" : ""} ${piece.kind.split(" ")[0]}`;
  if (piece.differing === 0 && piece.kind !== "text" && !same) {
    const details = h("details", { class: `same-piece ${classes}` }, h("summary", null, icon("right"), mark, h("span", { class: "name" }, label), h("span", { class: "dim" }, t("compare.same-in-both", { n: characters(piece.a) }))));
    details.addEventListener("toggle", () => details.childElementCount === 1 && append(details, body(true)), { once: true });
    return details;
  }
  return h("div", { class: classes }, label && h("div", { class: "piece-label" }, mark, label), body(same));
}

const append = (element, nodes) => element.append(...nodes);

/** The pane. */
export function answerPane(found, { same }) {
  const several = new Set(found.pieces.map((piece) => piece.output)).size > 1;
  const words = found.none ? "" : found.differing === 0 ? t("compare.all-lines-same", { n: found.all }) : t("compare.lines-differ-of", { n: found.differing, all: found.all });
  return fill(
    h("section", { class: "compare-answer", id: "section-2", tabindex: "-1", "aria-labelledby": "answer-title" }),
    h("header", { class: "pane-head" }, h("h2", { id: "answer-title" }, t("tab.answer")), h("span", { class: "dim" }, words)),
    h("div", { class: "compare-body", tabindex: "0", role: "group", "aria-labelledby": "answer-title" }, found.none ? h("p", { class: "pane-note" }, t("compare.no-answers")) : found.pieces.map((piece) => pieceView(piece, several, same))),
  );
}

/** The difference as text, for a ticket or a chat. */
export function answerText(found) {
  const out = [];
  for (const piece of found.pieces) {
    if (piece.differing === 0) continue;
    out.push(`@@ ${labelOf(piece, true)} @@`);
    for (const group of folds(piece.rows, false)) {
      if (group.fold) out.push(`  … ${number(group.to - group.from)}`);
      else {
        for (const row of piece.rows.slice(group.from, group.to)) {
          if (row.same) out.push(`  ${row.a}`);
          else out.push(...[row.a !== null && `A ${row.a}`, row.b !== null && `B ${row.b}`].filter((line) => line !== false));
        }
      }
    }
  }
  return out.join("\n");
}
