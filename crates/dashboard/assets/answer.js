// The answer: every output's blocks in stream order, growing in place. Text that a frame added is marked when the
// frame is selected, and leads to it when it is pointed at.
import { TextBlock } from "./blocks.js";
import { fill, h, prose } from "./dom.js";
import { number, seconds } from "./format.js";
import { stateMark } from "./marks.js";
import { OutputView } from "./output.js";
import { websocketWords } from "./websocket.js";
import { meaningOf, t } from "./words.js";

/** Side by side up to this many choices, then a row of tabs. */
const BESIDE = 2;

/** A torn edge: where the bytes stop. */
function zigzag() {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
  const teeth = Array.from({ length: 400 }, (_, i) => `L${i * 5 + 5} ${i % 2 === 0 ? 5 : 1}`);
  path.setAttribute("d", `M0 1${teeth.join("")}`);
  svg.setAttribute("aria-hidden", "true");
  svg.append(path);
  return svg;
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
    this.element = h("div", { class: "answer", role: "region", "aria-label": t("tab.answer"), tabindex: "0" }, this.stood, this.tabs, this.body, this.note, this.end);
    this.chosen = selection.value.choice ?? 0;
    this.open = false;
    this.#listen();
  }

  /** @param {{ reading: any, source: any, open: boolean, ending: any }} model */
  show({ reading, source, open, ending }) {
    const { scrollTop, clientHeight, scrollHeight } = this.element;
    // The text is followed while its end is in view; a reader who scrolled up is left alone.
    const follows = open && (this.source === undefined || scrollTop + clientHeight >= scrollHeight - 30);
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
    if (follows) this.element.scrollTop = this.element.scrollHeight;
  }

  #tabs(outputs) {
    const many = outputs.length > BESIDE;
    this.tabs.hidden = !many;
    this.outputs.forEach((output, i) => (output.element.hidden = many && i !== this.chosen));
    if (!many) return;
    this.chosen = Math.min(this.chosen, outputs.length - 1);
    const choose = (i) => () => this.selection.set({ choice: i }, { replace: false, scroll: false, from: "answer" });
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
    if (reading.error) words = "";
    else if (reading.websocket) words = websocketWords(reading.websocket);
    else if (reading.format === "unknown" && !open) words = t("answer.unknown");
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
      error && h("div", { class: "answer-error" }, h("b", null, t(reading.framing === "json" ? "answer.error-body" : "answer.error")), h("p", null, error.type && h("code", null, error.type), " ", error.message), error.meaning && h("p", { class: "dim" }, prose(meaningOf(error.meaning)))),
      ending?.words && [
        ending.broken && h("div", { class: "zigzag", "data-t": ending.time }, zigzag()),
        h("p", { class: ending.broken ? "how red" : "how" }, stateMark(ending.mark), ending.words),
        h("p", { class: "kept" }, ending.kept),
        h("div", { class: "end-actions" }, ending.actions),
      ],
    );
  }

  /** Writes arrival times once the frames and what they added are known. */
  times() {
    for (const output of this.outputs) for (const block of output.blocks) block.times();
    this.#markFaults();
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
    this.#choose();
    const linked = new Highlight();
    const later = new Highlight();
    const [first, last] = span ?? [frame, frame];
    this.firstMarked = null;
    for (const output of this.outputs) {
      for (const block of output.blocks) {
        if (block.element.hidden) continue;
        const runs = block.runs();
        const ranges = first === null ? [] : runs.ranges(first, last);
        block.element.classList.toggle("holds-mark", ranges.length > 0);
        this.#add(linked, block, ranges);
        if (at !== null && block.text) this.#add(later, block, [[runs.lengthAt(at), block.text.length]]);
      }
      output.showFinish(at);
      if (this.outputs.length > 1) output.showLength(at);
    }
    CSS.highlights.set("later", later);
    CSS.highlights.set("linked", linked);
    this.#stood(at);
  }

  /** Shows the choice that the address names; else the one that the selected frame went to. */
  #choose() {
    const { choice, frame } = this.selection.value;
    let chosen = this.chosen;
    if (choice !== this.named) {
      this.named = choice;
      chosen = choice ?? 0;
    } else if (frame !== this.shownFrame && frame !== null && frame < this.source.count) {
      const to = this.outputs.findIndex((output) => output.index === this.source.output[frame]);
      if (to >= 0) chosen = to;
    }
    this.shownFrame = frame;
    if (chosen === this.chosen || chosen >= this.outputs.length) return;
    this.chosen = chosen;
    this.#tabs(this.outputs.map((output) => output.output));
  }

  /** Marks what is wrong in the text itself: replaced bytes, and what was opened and never closed. */
  #markFaults() {
    if (!globalThis.CSS?.highlights) return;
    const bad = new Highlight();
    const opener = new Highlight();
    for (const output of this.outputs) {
      for (const block of output.blocks) {
        if (block.element.hidden) continue;
        this.#bad(bad, block);
        const fault = block.card?.faultRange();
        if (fault) opener.add(fault);
      }
    }
    CSS.highlights.set("bad", bad);
    CSS.highlights.set("opener", opener);
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

