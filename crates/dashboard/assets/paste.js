// The pasted text as lines: number, frame, stamp, text. Virtual, wraps off; frames and the selection are shown.
import { h, perFrame, text as write } from "./dom.js";
import { number } from "./format.js";
import { t } from "./words.js";

const ROW = 20;
const BEYOND = 20;
/** How much of a line is shown: nobody reads a megabyte sideways. */
const WIDE = 400;
/** A stamp at the start of a line, as contract 5 and FORMATS.md G.9 have them. */
const STAMP = /^\[?(?:(\d{4}-\d\d-\d\d)[T ])?(\d\d:\d\d:\d\d(?:[.,]\d+)?)(?:Z|[+-]\d\d:?\d\d)?\]?\s/;

export class Paste {
  /** @param {import("./selection.js").Selection} selection */
  constructor(selection) {
    this.selection = selection;
    this.spacer = h("div", { class: "paste-spacer", role: "rowgroup" });
    this.element = h("div", { class: "paste-lines mono", tabindex: "0", role: "grid", "aria-label": t("read.pasted") }, this.spacer);
    this.lines = [];
    this.rows = new Map();
    this.frameOf = () => null;
    this.redraw = perFrame(() => this.draw());
    this.element.addEventListener("scroll", this.redraw, { passive: true });
    new ResizeObserver(this.redraw).observe(this.element);
    this.element.addEventListener("click", (event) => {
      const row = event.target.closest(".paste-line");
      if (!row || !getSelection().isCollapsed) return;
      const frame = this.frameOf(Number(row.dataset.line));
      if (frame !== null) selection.set({ frame: frame.index, span: null }, { replace: false, from: "paste" });
    });
  }

  /** @param {string} text */
  show(text) {
    this.lines = text.split(/\r\n|\n|\r/);
    if (this.lines.at(-1) === "") this.lines.pop();
    this.frames = null;
    this.spacer.style.height = `${this.lines.length * ROW}px`;
    for (const row of this.rows.values()) row.element.remove();
    this.rows.clear();
    this.draw();
  }

  /** @param {any[]} frames with their first line and how many they have */
  setFrames(frames, findings) {
    this.frames = frames;
    this.wrong = new Set(findings.filter((finding) => finding.severity === "error" && finding.frame !== null && finding.id === "cut").map((finding) => finding.frame));
    this.frameOf = (line) => {
      let low = 0;
      let high = frames.length;
      while (low < high) {
        const middle = (low + high) >> 1;
        if (frames[middle].line + frames[middle].lines <= line) low = middle + 1;
        else high = middle;
      }
      const frame = frames[low];
      return frame && line >= frame.line ? frame : null;
    };
    this.draw();
  }

  draw() {
    const { element } = this;
    const first = Math.max(0, Math.floor(element.scrollTop / ROW) - BEYOND);
    const last = Math.min(this.lines.length, Math.ceil((element.scrollTop + element.clientHeight) / ROW) + BEYOND);
    for (const [i, row] of this.rows) {
      if (i >= first && i < last) continue;
      row.element.remove();
      this.rows.delete(i);
    }
    for (let i = first; i < last; i += 1) this.#row(i);
  }

  #row(i) {
    let row = this.rows.get(i);
    if (!row) {
      const cells = ["n p-number", "n p-frame", "p-stamp", "p-text"].map((name) => h("span", { class: name, role: "gridcell" }));
      row = { element: h("div", { class: "paste-line", role: "row", data: { line: i + 1 } }, cells), cells };
      row.element.style.transform = `translateY(${i * ROW}px)`;
      const line = this.lines[i].slice(0, WIDE);
      const stamp = STAMP.exec(line);
      write(cells[0], number(i + 1));
      write(cells[2], stamp ? stamp[2].replace(/(\.\d{3})\d+$/, "$1") : "");
      this.#text(cells[3], stamp ? line.slice(stamp[0].length) : line);
      this.rows.set(i, row);
      this.spacer.append(row.element);
    }
    const frame = this.frames ? this.frameOf(i + 1) : null;
    const { frame: selected } = this.selection.value;
    write(row.cells[1], frame?.line === i + 1 ? `#${number(frame.index)}` : "");
    row.element.classList.toggle("selected", frame !== null && frame.index === selected);
    row.element.classList.toggle("cut", frame !== null && (this.wrong?.has(frame.index) ?? false));
  }

  #text(cell, line) {
    const field = /^([a-z]*:)(.*)$/.exec(line);
    if (field && /^(data|event|id|retry|):$/.test(field[1])) cell.append(h("span", { class: "dim" }, field[1]), field[2]);
    else cell.append(line);
  }

  /** Shows the selected frame; scrolls to it unless it was chosen here. */
  mark(scroll) {
    const frame = this.frames?.[this.selection.value.frame ?? -1];
    if (frame && scroll) {
      const top = (frame.line - 1) * ROW;
      const { scrollTop, clientHeight } = this.element;
      if (top < scrollTop || top + ROW * frame.lines > scrollTop + clientHeight) this.element.scrollTop = Math.max(0, top - clientHeight / 3);
    }
    this.draw();
  }
}
