// The strip of facts under the head: one value each, what is not known shown as unknown.
import { fill, h, icon } from "./dom.js";
import { COMING, NEVER, clause, count, durationParts, number, shortHash, size } from "./format.js";
import { howBroken } from "./reason.js";
import { meaningOf, t } from "./words.js";

const EXACT = { exact: true };

function timeFact(label, ms, open, { live = false, note = "" } = {}) {
  if (ms === null || ms === undefined) return { label, value: open ? COMING : NEVER, unit: open ? "" : note };
  const [value, unit] = durationParts(ms, EXACT);
  return { label, value, unit: note ? `${unit} · ${note}` : unit, live };
}

/** Where the longest gap is: before the text, if that is where it is. */
function gapNote(source, reading) {
  const longest = reading.timing?.longest_gap_ms;
  const first = reading.timing?.first_text_ms;
  if (!longest || longest < 1000 || first === null || first === undefined) return "";
  const frame = source.gaps.find((i) => Math.abs(source.delta(i) - longest) < 1);
  return frame !== undefined && source.at[frame] <= first ? t("fact.before-text") : "";
}

/** The frame to go to, where the gap's length is that of the frames that are here. */
const slowest = (source, gap) => (Math.abs(source.delta(source.slowest) - gap) < 1 ? { frame: source.slowest, title: t("fact.gap-go", { frame: source.slowest }) } : {});

function rateFact(reading, open) {
  const rate = reading.timing?.tokens_per_second;
  const label = t("fact.rate");
  if (rate !== null && rate !== undefined) return { label, value: rate < 100 ? rate.toFixed(1) : number(rate), unit: t("fact.rate-unit") };
  if (open) return { label, value: COMING, unit: t("fact.rate-later") };
  return { label, value: NEVER, unit: reading.usage?.output_tokens == null ? t("fact.rate-none") : "" };
}

function tokensFact(reading, open) {
  const usage = reading.usage;
  const output = open ? COMING : count(usage?.output_tokens);
  let unit = "";
  if (open) unit = t("fact.counted-later");
  else if (!usage) unit = t("fact.no-usage");
  else {
    const parts = [usage.cached_tokens !== null && t("fact.cached", { n: count(usage.cached_tokens) }), usage.reasoning_tokens && t("fact.reasoning", { n: count(usage.reasoning_tokens) })];
    unit = parts.filter(Boolean).join(" · ");
  }
  return { label: t("fact.tokens"), value: `${usage?.input_tokens == null && open ? COMING : count(usage?.input_tokens)} → ${output}`, unit };
}

function finishFact(reading, open) {
  const finishes = reading.outputs.map((output) => output.finish).filter(Boolean);
  const label = t("fact.finish");
  if (finishes.length === 0) return { label, value: open ? COMING : NEVER, unit: t(open ? "fact.not-yet" : "fact.none-came") };
  const meanings = [...new Set(finishes.map((finish) => meaningOf(finish.meaning)).filter(Boolean))];
  const unit = meanings.map(clause).join("; ");
  return { label, value: finishes.map((finish) => finish.reason).join(", "), unit, title: unit, long: true };
}

function throughFact(summary, open) {
  const label = t("fact.through");
  const same = summary.bytes === summary.bytes_to_app;
  const value = size(summary.bytes);
  const hash = summary.sha256 ? ` · ${shortHash(summary.sha256)}` : "";
  const title = summary.sha256 ? `SHA-256 ${summary.sha256}` : "";
  if (!same) return { label, value, unit: `${t("fact.in")} · ${t("fact.your-app-got", { n: size(summary.bytes_to_app) })}${hash}`, title, long: true };
  let end = "";
  if (summary.state === "upstream-broke") {
    const what = howBroken(summary) === "reset" ? t("fact.then-reset") : t("fact.then-close");
    end = `, ${t("fact.then", { what })}`;
  }
  return { label, value, check: true, unit: `${t(open ? "fact.in-out-so-far" : "fact.in-out")}${end}${hash}`, title, long: true };
}

/** When the first tool argument came, where no text came before it. */
function firstTool(source) {
  for (let i = 0; i < source.count; i += 1) if (source.kind[i] === 4 && source.added[i] > 0) return source.at[i];
  return null;
}

function totalFact(summary, reading, open) {
  if (open) return timeFact(t("fact.running"), Date.now() - new Date(summary.started_at).getTime(), true, { live: true });
  const broke = summary && (summary.verdict !== "finished" || summary.state === "failed");
  return timeFact(t(broke ? "fact.ended-after" : "fact.total"), summary?.duration_ms ?? reading.timing?.last_byte_ms, false);
}

/** The facts in order. `summary` is null for a pasted stream. */
export function factsOf({ summary, reading, source }) {
  const open = summary?.state === "open";
  const timing = reading.timing;
  const first = summary?.first_byte_ms ?? timing?.first_byte_ms;
  const text = summary?.first_text_ms ?? timing?.first_text_ms;
  const rest = [tokensFact(reading, open), finishFact(reading, open)];
  // A text without times has none to show: not even dashes in a row.
  if (!summary && !timing) return rest;
  const facts = [timeFact(t("fact.first-byte"), first, open), timeFact(t("fact.first-text"), text, open, { note: text == null ? t("fact.no-text") : "" })];
  if (text == null) {
    const tool = firstTool(source);
    if (tool !== null && !Number.isNaN(tool)) facts.push(timeFact(t("fact.first-tool"), tool, open));
  }
  facts.push(totalFact(summary, reading, open));
  const longest = source.gaps.length ? source.delta(source.slowest) : null;
  const gap = timing?.longest_gap_ms ?? longest;
  facts.push({ ...timeFact(t("fact.gap"), gap, open, { note: gapNote(source, reading) }), ...slowest(source, gap) });
  facts.push(rateFact(reading, open), ...rest);
  if (summary && summary.status !== null) facts.push(throughFact(summary, open));
  return facts;
}

/** The strip. Only facts that changed are written. */
export class Facts {
  /** @param {(frame: number) => void} go goes to the frame that a fact is about */
  constructor(go) {
    this.go = go;
    this.element = h("dl", { class: "facts", tabindex: "0" });
    this.shown = [];
  }

  show(facts) {
    facts.forEach((fact, i) => {
      const key = JSON.stringify(fact);
      if (this.shown[i] === key) return;
      this.shown[i] = key;
      let box = this.element.children[i];
      if (!box) this.element.append((box = h("div", { class: "fact" }, h("dt"), h("dd"))));
      box.children[0].textContent = fact.label;
      box.title = fact.title ?? "";
      box.classList.toggle("long", Boolean(fact.long));
      const value = [
        fact.check && icon("check"),
        h("b", { class: `${fact.live ? "live" : ""} ${fact.value === NEVER ? "never" : ""}` }, fact.value),
        fact.unit && h("small", null, ` ${fact.unit}`),
      ];
      // The button stays while its numbers change, and the focus on it.
      const button = box.children[1].querySelector("button");
      if (fact.frame === undefined) fill(box.children[1], value);
      else if (button) fill(button, value);
      else fill(box.children[1], h("button", { class: "fact-go", type: "button", onclick: () => this.go(Number(box.dataset.frame)) }, value));
      box.dataset.frame = fact.frame ?? "";
    });
    while (this.element.children.length > facts.length) this.element.lastElementChild.remove();
    this.shown.length = facts.length;
  }
}
