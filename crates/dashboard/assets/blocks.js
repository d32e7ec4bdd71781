// The blocks of an answer: texts, tool calls and whatever else a format has, each with the characters that frames added.
import { fill, h, icon } from "./dom.js";
import { size } from "./format.js";
import { withoutData } from "./inlinedata.js";
import { Lines } from "./lines.js";
import { ToolCard } from "./toolcard.js";
import { characters } from "./verdict.js";
import { t } from "./words.js";

/** How long after the last time a line shows its own. */
const TIME_STEP = 250;
/** The kinds that are text, joined in the reading under the same names. */
export const FLOWING = ["text", "refusal", "reasoning"];

/** The text of a part that frames add to. */
export const textOf = (part) => part.arguments ?? part.text ?? "";

/** Where a citation says that it is from, by the names of the formats; the first that is there. */
const FROM = ["title", "document_title", "filename", "url", "uri", "source", "file_id", "id", "type"];
/** What it cites. */
const CITED = ["cited_text", "quote", "snippet"];

const firstText = (entry, names) => names.map((name) => entry[name]).find((value) => typeof value === "string" && value !== "") ?? "";

/** A citation: where it is from, its address where that is another, and what it cites. */
function citation(given) {
  // Chat Completions has the fields one level down.
  const entry = given?.url_citation ?? given?.file_citation ?? given;
  if (entry === null || typeof entry !== "object") return h("li", null, String(entry));
  const [from, cited] = [firstText(entry, FROM), firstText(entry, CITED)];
  const url = typeof entry.url === "string" && entry.url !== from ? entry.url : "";
  return h("li", null, from, url && [" ", h("span", { class: "mono dim" }, url)], cited && [" ", h("q", null, cited)]);
}

/** The citations of a text part, folded to one line where they are many. */
class Citations {
  constructor() {
    this.element = h("details", { class: "citations", hidden: true });
    this.shown = "";
  }

  show(part) {
    const entries = [part.citations, part.annotations].flatMap((list) => (Array.isArray(list) ? list : []));
    const key = JSON.stringify(entries);
    if (key === this.shown) return;
    this.shown = key;
    this.element.hidden = entries.length === 0;
    this.element.open = entries.length <= 3;
    fill(this.element, h("summary", null, t("answer.citations", { n: entries.length })), h("ol", null, entries.map(citation)));
  }
}

/** A part that is shown: its element and where its characters are. */
class Block {
  constructor(view, output, place, kind) {
    this.view = view;
    this.output = output;
    this.place = place;
    this.kind = kind;
    this.text = "";
  }

  runs() {
    return this.view.provenance.of(this.output, this.place, this.text);
  }
}

export class TextBlock extends Block {
  constructor(view, output, place, kind) {
    super(view, output, place, kind);
    this.lines = new Lines({ time: (at) => this.#time(at) });
    this.caret = null;
    if (kind === "reasoning") this.#fold();
    else {
      const label = kind === "refusal" && h("div", { class: "part-label" }, t("answer.refusal"));
      this.citations = new Citations();
      this.element = h("div", { class: `part ${kind}` }, label, this.lines.element, this.citations.element);
    }
  }

  /** Reasoning is one line that opens. */
  #fold() {
    this.facts = h("span", { class: "dim" });
    const summary = h("summary", null, icon("right"), icon("rays"), h("span", { class: "name" }, t("answer.reasoning")), this.facts);
    this.element = h("details", { class: "part reasoning" }, summary, this.lines.element);
    this.element.addEventListener("toggle", () => {
      this.update();
      this.view.mark();
    });
  }

  show(part) {
    this.text = textOf(part);
    this.citations?.show(part);
    this.update();
  }

  update() {
    const open = this.kind !== "reasoning" || this.element.open;
    if (open) this.lines.show(this.text);
    if (this.facts) this.#facts();
  }

  #facts() {
    const { first, last, count } = this.runs().summary();
    const words = [t("answer.characters", { n: characters(this.text) })];
    if (count > 0) words.push(t("answer.frames", { n: count }));
    const at = this.view.source.at;
    if (first !== null && this.view.source.hasTimes && last < this.view.source.count) {
      words.push(`${(at[first] / 1000).toFixed(2)}–${(at[last] / 1000).toFixed(2)} s`);
      this.element.querySelector("summary").dataset.t = (at[first] / 1000).toFixed(2);
    }
    this.facts.textContent = words.join(" · ");
  }

  /** The time of the line that begins at `at`, if it says something new. */
  #time(at) {
    const { source } = this.view;
    // An empty line has no character of its own; the next one says the time.
    if (this.text[at] === "\n") return { label: "", gap: false };
    const frame = this.runs().frameAt(at);
    if (frame === null || frame >= source.count || Number.isNaN(source.at[frame])) return null;
    const ms = source.at[frame];
    const gap = source.delta(frame) >= 1000;
    if (this.lastTime !== undefined && at > 0 && ms - this.lastTime < TIME_STEP) return { label: "", gap: false };
    this.lastTime = ms;
    return { label: (ms / 1000).toFixed(2), gap };
  }

  times() {
    if (this.lines.timed === 0) this.lastTime = undefined;
    this.lines.showTimes();
    if (this.facts) this.#facts();
  }

  range(from, to) {
    return this.lines.range(from, to);
  }

  positionOf(node, offset) {
    return this.lines.positionOf(node, offset);
  }
}

class CallBlock extends Block {
  constructor(view, output, place, kind) {
    super(view, output, place, kind);
    this.card = new ToolCard({ link: (first, last) => view.frameLink(first, last) });
    this.card.onToggle = () => view.times();
    this.element = h("div", { class: "part call" }, this.card.element);
  }

  show(part) {
    this.text = textOf(part);
    this.part = part;
    this.times();
  }

  times() {
    const runs = this.runs();
    const { first } = runs.summary();
    const { source } = this.view;
    if (first !== null && first < source.count && source.hasTimes) this.element.dataset.t = (source.at[first] / 1000).toFixed(2);
    this.card.show(this.part, { open: this.view.open, runs, interleaved: this.view.interleaved(this) });
  }

  range(from, to) {
    return this.card.range(from, to);
  }

  positionOf(node, offset) {
    return this.card.positionOf(node, offset);
  }
}

/** Anything else a format has: its kind, and its fields on one line each. */
class OtherBlock extends Block {
  constructor(view, output, place, kind) {
    super(view, output, place, kind);
    this.element = h("div", { class: "part other" });
  }

  show(part) {
    const key = JSON.stringify(part);
    if (this.key === key) return;
    this.key = key;
    this.text = textOf(part);
    const fields = Object.entries(part).filter(([name]) => name !== "kind");
    fill(
      this.element,
      h("div", { class: "part-label" }, icon("file"), part.kind, part.name && h("b", { class: "mono" }, part.name)),
      fields.map(([name, value]) => h("div", { class: "field" }, h("span", { class: "dim" }, name), " ", h("span", { class: "mono" }, shortValue(name, value)))),
    );
  }

  times() {}
  range() {
    return null;
  }
  positionOf() {
    return -1;
  }
}

/** Images and the like are never shown, only how large they are. */
function shortValue(name, value) {
  const text = withoutData(typeof value === "string" ? value : JSON.stringify(value));
  if (text.length > 400 && /^[\w+/=-]+$/.test(text.slice(0, 400))) return t("answer.image", { size: size(Math.floor((text.length * 3) / 4)) });
  return text.length > 2000 ? `${text.slice(0, 2000)}…` : text;
}

/** The block for a part of this kind. */
export function makeBlock(view, output, place, kind) {
  if (FLOWING.includes(kind)) return new TextBlock(view, output, place, kind);
  if (kind === "tool-call") return new CallBlock(view, output, place, kind);
  return new OtherBlock(view, output, place, kind);
}
