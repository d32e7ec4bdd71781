// The answer: every output's blocks in stream order, growing in place. Text that a frame added is marked when the
// frame is selected, and leads to it when it is pointed at.
import { fill, h, icon } from "./dom.js";
import { number, seconds, size } from "./format.js";
import { Lines } from "./lines.js";
import { stateMark } from "./marks.js";
import { copyButton } from "./shell.js";
import { ToolCard } from "./toolcard.js";
import { characters } from "./verdict.js";
import { t } from "./words.js";

/** Side by side up to this many choices, then a row of tabs. */
const BESIDE = 2;
/** How long after the last time a line shows its own. */
const TIME_STEP = 250;
const FLOWING = ["text", "refusal", "reasoning"];

/** The text of a part that frames add to. */
const textOf = (part) => part.arguments ?? part.text ?? "";

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

class TextBlock extends Block {
  constructor(view, output, place, kind) {
    super(view, output, place, kind);
    this.lines = new Lines({ time: (at) => this.#time(at) });
    this.caret = null;
    if (kind === "reasoning") this.#fold();
    else {
      const label = kind === "refusal" && h("div", { class: "part-label" }, t("answer.refusal"));
      this.element = h("div", { class: `part ${kind}` }, label, this.lines.element);
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
    this.card.onToggle = () => view.mark();
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
  const text = typeof value === "string" ? value : JSON.stringify(value);
  if (text.length > 400 && /^[\w+/=-]+$/.test(text.slice(0, 400))) return t("answer.image", { size: size(Math.floor((text.length * 3) / 4)) });
  return text.length > 2000 ? `${text.slice(0, 2000)}…` : text;
}

function makeBlock(view, output, place, kind) {
  if (FLOWING.includes(kind)) return new TextBlock(view, output, place, kind);
  if (kind === "tool-call") return new CallBlock(view, output, place, kind);
  return new OtherBlock(view, output, place, kind);
}

/** One choice. */
class OutputView {
  constructor(view, output) {
    this.view = view;
    this.index = output.index;
    this.blocks = [];
    this.title = h("b");
    this.length = h("span", { class: "dim" });
    this.head = h("header", { class: "choice-head", hidden: true }, this.title, this.length, h("span", { class: "grow" }), copyButton(t("answer.copy"), () => this.output.text));
    this.body = h("div", { class: "blocks" });
    this.finish = h("div", { class: "finish", hidden: true });
    this.element = h("section", { class: "output" }, this.head, this.body, this.finish);
  }

  show(output, several) {
    this.output = output;
    this.head.hidden = !several;
    this.title.textContent = t(this.view.format === "gemini" ? "answer.candidate" : "answer.choice", { n: output.index });
    output.parts.forEach((part, place) => this.#part(part, place));
    while (this.blocks.length > output.parts.length) this.blocks.pop().element.remove();
    this.#hideRepeats(output);
    this.showFinish();
  }

  #part(part, place) {
    let block = this.blocks[place];
    if (block && block.kind !== part.kind) {
      block.element.remove();
      block = null;
    }
    if (!block) {
      block = makeBlock(this.view, this.index, place, part.kind);
      this.blocks[place] = block;
      const after = this.blocks[place + 1]?.element ?? null;
      this.body.insertBefore(block.element, after);
    }
    block.show(part);
  }

  /** Some formats send the same text in two places: what the joined text does not hold is a repeat. */
  #hideRepeats(output) {
    for (const kind of FLOWING) {
      let at = 0;
      const whole = output[kind];
      for (const [place, part] of output.parts.entries()) {
        if (part.kind !== kind) continue;
        const text = textOf(part);
        const holds = text === "" ? false : whole.startsWith(text, at);
        if (holds) at += text.length;
        this.blocks[place].element.hidden = !holds && whole !== "";
        if (text === "" && kind !== "text") this.blocks[place].element.hidden = true;
      }
    }
  }

  showFinish(scrub = null, frame = null) {
    const { finish } = this.output;
    this.finish.hidden = !finish;
    if (!finish) return;
    const later = scrub !== null && frame !== null && frame > scrub;
    fill(this.finish, h("span", { class: "chip mono" }, finish.reason), h("span", { title: finish.source ? `${finish.source} (${finish.as_of})` : null }, later ? t("answer.not-yet", { frame }) : (finish.meaning ?? "")));
  }

  showLength(scrub) {
    const total = characters(this.output.text);
    if (scrub === null) {
      this.length.textContent = t("answer.characters", { n: total });
      return;
    }
    let shown = 0;
    for (const block of this.blocks) if (block.kind === "text") shown += characters(block.text.slice(0, block.runs().lengthAt(scrub)));
    this.length.textContent = t("answer.of", { shown, all: total });
  }
}

export class Answer {
  /**
   * @param {import("./selection.js").Selection} selection
   * @param {import("./provenance.js").Provenance} provenance
   */
  constructor(selection, provenance) {
    this.selection = selection;
    this.provenance = provenance;
    this.outputs = [];
    this.stood = h("div", { class: "stood-bar", hidden: true });
    this.tabs = h("div", { class: "choice-tabs", role: "tablist", hidden: true });
    this.body = h("div", { class: "outputs" });
    this.note = h("p", { class: "pane-note", hidden: true });
    this.end = h("div", { class: "answer-end", hidden: true });
    this.caret = h("span", { class: "caret" });
    this.element = h("div", { class: "answer" }, this.stood, this.tabs, this.body, this.note, this.end);
    this.chosen = 0;
    this.open = false;
    this.#listen();
  }

  /** @param {{ reading: any, source: any, open: boolean, ending: any }} model */
  show({ reading, source, open, ending }) {
    this.source = source;
    this.open = open;
    this.format = reading.format;
    reading.outputs.forEach((output, i) => {
      if (!this.outputs[i]) {
        this.outputs[i] = new OutputView(this, output);
        this.body.append(this.outputs[i].element);
      }
      this.outputs[i].show(output, reading.outputs.length > 1);
    });
    while (this.outputs.length > reading.outputs.length) this.outputs.pop().element.remove();
    this.body.classList.toggle("beside", this.outputs.length > 1 && this.outputs.length <= BESIDE);
    this.#tabs(reading.outputs);
    this.#notes(reading, open);
    this.#caret(open);
    this.#ending(ending, reading);
    this.times();
  }

  #tabs(outputs) {
    const many = outputs.length > BESIDE;
    this.tabs.hidden = !many;
    this.outputs.forEach((output, i) => (output.element.hidden = many && i !== this.chosen));
    if (!many) return;
    const choose = (i) => () => {
      this.chosen = i;
      this.#tabs(outputs);
      this.mark();
    };
    fill(
      this.tabs,
      outputs.map((output, i) =>
        h("button", { type: "button", role: "tab", "aria-selected": String(i === this.chosen), onclick: choose(i) }, t("answer.choice", { n: output.index }), output.finish && h("span", { class: "dim" }, ` ${output.finish.reason}`)),
      ),
    );
  }

  #notes(reading, open) {
    const nothing = reading.outputs.every((output) => output.parts.length === 0);
    let words = "";
    if (reading.format === "unknown" && !open) words = t("answer.unknown");
    else if (nothing) words = t(open ? "answer.nothing-yet" : "answer.none");
    this.note.hidden = !words;
    this.note.textContent = words;
  }

  #caret(open) {
    const last = this.outputs.at(-1)?.blocks.findLast((block) => !block.element.hidden);
    if (!open || !last) this.caret.remove();
    else if (last instanceof TextBlock && last.lines.lines.length) last.lines.lines.at(-1).element.append(this.caret);
    else last.element.append(this.caret);
  }

  /** How it ended, where that was no end. */
  #ending(ending, reading) {
    const error = reading.error;
    this.end.hidden = !ending?.words && !error;
    if (this.end.hidden) return;
    const key = JSON.stringify([ending, error]);
    if (this.end.dataset.key === key) return;
    this.end.dataset.key = key;
    fill(
      this.end,
      error && h("div", { class: "answer-error" }, h("b", null, t("answer.error")), h("p", null, error.type && h("code", null, error.type), " ", error.message), error.meaning && h("p", { class: "dim" }, error.meaning)),
      ending?.words && [
        ending.broken && h("div", { class: "zigzag", "data-t": ending.time }),
        h("p", { class: ending.broken ? "how red" : "how" }, stateMark(ending.mark), ending.words),
        h("p", { class: "kept" }, ending.kept),
        h("div", { class: "end-actions" }, ending.actions),
      ],
    );
  }

  /** Writes arrival times once the frames and what they added are known. */
  times() {
    for (const output of this.outputs) for (const block of output.blocks) block.times();
    this.mark();
  }

  frameLink(first, last) {
    const words = first === last ? `#${number(first)}` : `#${number(first)}–${number(last)}`;
    const go = (event) => {
      event.stopPropagation();
      this.selection.set({ frame: first, span: first === last ? null : [first, last] }, { replace: false, from: "answer" });
    };
    return h("button", { class: "frame-link", type: "button", onclick: go }, words);
  }

  /** The number of another call whose fragments lie between those of this one. */
  interleaved(block) {
    const own = block.runs().summary();
    if (own.first === null) return null;
    for (const output of this.outputs) {
      for (const other of output.blocks) {
        if (other === block || other.kind !== "tool-call" || !other.part) continue;
        const inside = other.runs().frames.some((frame) => frame > own.first && frame < own.last);
        if (inside) return other.part.index;
      }
    }
    return null;
  }

  // Marking

  /** Marks what the selection stands for: ranges only, no element changes. */
  mark() {
    if (!globalThis.CSS?.highlights || !this.source) return;
    const { frame, span, at } = this.selection.value;
    const linked = new Highlight();
    const later = new Highlight();
    const bad = new Highlight();
    const opener = new Highlight();
    const [first, last] = span ?? [frame, frame];
    this.firstMarked = null;
    for (const output of this.outputs) {
      for (const block of output.blocks) {
        if (block.element.hidden) continue;
        const runs = block.runs();
        if (first !== null) this.#add(linked, block, runs.ranges(first, last));
        if (at !== null && block.text) this.#add(later, block, [[runs.lengthAt(at), block.text.length]]);
        this.#bad(bad, block);
        const fault = block.card?.faultRange();
        if (fault) opener.add(fault);
      }
      output.showLength(at);
    }
    CSS.highlights.set("later", later);
    CSS.highlights.set("linked", linked);
    CSS.highlights.set("bad", bad);
    CSS.highlights.set("opener", opener);
    this.#stood(at);
  }

  #add(highlight, block, ranges) {
    for (const [from, to] of ranges.slice(0, 500)) {
      if (from >= to) continue;
      const range = block.range(from, to);
      if (!range) continue;
      highlight.add(range);
      this.firstMarked ??= range;
    }
  }

  #bad(highlight, block) {
    let at = block.text.indexOf("\u{fffd}");
    for (let n = 0; at >= 0 && n < 200; n += 1) {
      const range = block.range(at, at + 1);
      if (range) highlight.add(range);
      at = block.text.indexOf("\u{fffd}", at + 1);
    }
  }

  #stood(at) {
    this.stood.hidden = at === null;
    if (at === null) return;
    const time = this.source.at[at];
    fill(
      this.stood,
      h("b", null, t("answer.stood", { frame: number(at), last: number(this.source.count - 1) })),
      !Number.isNaN(time) && h("span", null, `${seconds(time)} s`),
      h("span", { class: "grow" }),
      h("kbd", null, ","),
      h("kbd", null, "."),
      h("span", null, t("answer.step")),
      h("button", { class: "link", type: "button", onclick: () => this.selection.set({ at: null }) }, t("answer.back")),
    );
  }

  /** Scrolls what is marked into view, if it is not. */
  reveal() {
    const range = this.firstMarked;
    if (!range) return;
    const box = range.getBoundingClientRect();
    const pane = this.element.getBoundingClientRect();
    if (box.height === 0 || (box.top >= pane.top + 8 && box.bottom <= pane.bottom - 8)) return;
    this.element.scrollTop += box.top - pane.top - pane.height / 3;
  }

  // The pointer

  #frameUnder(event) {
    const caret = document.caretPositionFromPoint?.(event.clientX, event.clientY);
    const fallback = caret ? null : document.caretRangeFromPoint?.(event.clientX, event.clientY);
    const node = caret ? caret.offsetNode : fallback?.startContainer;
    const offset = caret ? caret.offset : fallback?.startOffset;
    if (!node || node.nodeType !== Node.TEXT_NODE) return null;
    for (const output of this.outputs) {
      for (const block of output.blocks) {
        if (!block.element.contains(node)) continue;
        const at = block.positionOf(node, offset);
        return at < 0 ? null : block.runs().frameAt(Math.min(at, block.text.length - 1));
      }
    }
    return null;
  }

  #listen() {
    let moved = false;
    this.body.addEventListener("pointerdown", () => (moved = false));
    this.body.addEventListener("pointermove", (event) => {
      if (event.buttons) moved = true;
      else this.#hover(event);
    });
    this.body.addEventListener("pointerleave", () => globalThis.CSS?.highlights?.delete("hovered"));
    this.body.addEventListener("click", (event) => {
      // Selecting text is not clicking it.
      if (moved || !getSelection().isCollapsed || event.target.closest("button, summary")) return;
      const frame = this.#frameUnder(event);
      if (frame !== null) this.selection.set({ frame, span: null }, { replace: false, from: "answer" });
    });
  }

  #hover(event) {
    if (!globalThis.CSS?.highlights) return;
    const frame = this.#frameUnder(event);
    if (frame === this.hovered) return;
    this.hovered = frame;
    CSS.highlights.delete("hovered");
    if (frame === null) return;
    const highlight = new Highlight();
    for (const output of this.outputs) {
      for (const block of output.blocks) {
        if (!block.element.hidden) for (const [from, to] of block.runs().ranges(frame, frame)) {
          const range = block.range(from, to);
          if (range) highlight.add(range);
        }
      }
    }
    CSS.highlights.set("hovered", highlight);
  }

  /** The text of the first choice, or of all of them. */
  text() {
    return this.outputs.map((output) => output.output.text).join("\n\n");
  }
}

