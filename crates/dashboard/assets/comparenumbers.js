// The numbers of two captures beside each other, and B − A.
import { fill, h } from "./dom.js";
import { NEVER, count, duration, number } from "./format.js";
import { gapsOf } from "./gaps.js";
import { countFindings } from "./marks.js";
import { t } from "./words.js";

const known = (value) => value !== null && value !== undefined && !Number.isNaN(value);
const signed = (value, words) => `${value < 0 ? "−" : "+"}${words(Math.abs(value))}`;

/** The most frames that came at one moment: one read brought them. */
function mostAtOnce(source) {
  let [most, run] = [0, 0];
  for (let i = 0; i < source.count; i += 1) {
    run = i > 0 && source.at[i] === source.at[i - 1] ? run + 1 : 1;
    most = Math.max(most, run);
  }
  return source.count > 0 && source.hasTimes ? most : null;
}

function p95(source) {
  const gaps = gapsOf(source);
  return gaps.length ? gaps[Math.min(gaps.length - 1, Math.floor(gaps.length * 0.95))] : null;
}

const finishOf = (reading) => reading.outputs.map((output) => output.finish?.reason).filter(Boolean).join(", ") || null;

const total = (counts) => counts.error + counts.warning + counts.note;

/** Label, value and how the value is written, of every number. */
function measures({ summary, reading, source }) {
  const exact = (ms) => duration(ms, { exact: true });
  const rate = (value) => value.toFixed(1);
  const { usage, timing } = reading;
  return [
    ["status", summary.status, String, { word: true }],
    ["first-byte", summary.first_byte_ms, exact],
    ["first-text", summary.first_text_ms, exact],
    ["total", summary.duration_ms, exact],
    ["frames", source.count, number],
    ["bytes", summary.bytes, number],
    ["gap", timing?.longest_gap_ms, exact],
    ["p95", p95(source), exact],
    ["rate", timing?.tokens_per_second, rate],
    ["at-once", mostAtOnce(source), number],
    ["input", usage?.input_tokens, count],
    ["output", usage?.output_tokens, count],
    ["cached", usage?.cached_tokens, count],
    ["reasoning", usage?.reasoning_tokens, count],
    ["finish", finishOf(reading), String, { word: true }],
    ["findings", total(countFindings(reading.findings)), number],
  ];
}

/** B − A in words, and whether there is a difference. */
function difference(a, b, write, word) {
  if (!known(a) && !known(b)) return { words: "", differs: false };
  if (!known(b)) return { words: t("compare.lost"), differs: true };
  if (!known(a)) return { words: t("compare.only", { name: "B" }), differs: true };
  // What cannot be seen in the numbers as they are written is no difference.
  const same = word || typeof a !== "number" ? a === b : write(a) === write(b) || write(Math.abs(b - a)) === write(0);
  if (same) return { words: t("compare.same"), differs: false };
  return { words: word ? t("compare.other") : signed(b - a, write), differs: true };
}

/** @returns {{ name: string, a: string, b: string, words: string, differs: boolean }[]} without what neither has */
export function numbersOf(a, b) {
  const right = measures(b);
  const value = (number, write) => (known(number) ? write(number) : NEVER);
  return measures(a)
    .map(([name, left, write, { word = false } = {}], i) => {
      const other = right[i][1];
      return { name, none: !known(left) && !known(other), a: value(left, write), b: value(other, write), ...difference(left, other, write, word) };
    })
    .filter((row) => !row.none);
}

/** The table. */
export function numbersPane(rows) {
  const differing = rows.filter((row) => row.differs).length;
  const head = ["", "A", "B", "B − A"].map((words, i) => h("th", { scope: "col", class: i ? "n" : "" }, words || h("span", { class: "visually-hidden" }, t("compare.numbers"))));
  const line = (row) =>
    h(
      "tr",
      { class: row.differs ? "differs" : "" },
      h("th", { scope: "row" }, t(`compare.number-${row.name}`)),
      h("td", { class: "n" }, row.a),
      h("td", { class: "n" }, row.b),
      h("td", { class: `n ${row.differs ? "difference" : "dim"}` }, row.words),
    );
  return fill(
    h("section", { class: "compare-numbers", id: "section-1", tabindex: "0", "aria-labelledby": "numbers-title" }),
    h("header", { class: "pane-head" }, h("h2", { id: "numbers-title" }, t("compare.numbers")), h("span", { class: "dim" }, differing ? t("compare.n-differ", { n: differing }) : t("compare.all-same"))),
    h("table", { class: "numbers-table" }, h("thead", null, h("tr", null, head)), h("tbody", null, rows.map(line))),
  );
}
