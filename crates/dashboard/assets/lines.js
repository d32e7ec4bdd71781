// A growing text in lines, each with the time at which its first character came. Text is appended to what is
// there, in blocks that are laid out apart, so that a long answer stays quick while it grows. What is marked in it
// is marked by ranges (the CSS Custom Highlight API): no element is added, so nothing moves.
import { h } from "./dom.js";

const BLOCK = 48;
/** A line longer than this is shown in pieces, so that one paragraph does not hold everything. */
const LONGEST = 8192;

export class Lines {
  /**
   * @param {{ mono?: boolean, time?: (at: number) => { label: string, gap: boolean } | null }} [options]
   *   `time`: the time shown beside a line that begins at this character
   */
  constructor({ mono = false, time = null } = {}) {
    this.element = h("div", { class: mono ? "lines mono" : "lines" });
    this.time = time;
    this.text = "";
    /** @type {{ start: number, element: HTMLElement, node: Text }[]} */
    this.lines = [];
    this.timed = 0;
  }

  /** Shows `text`; what it has in common with the text before stays as it is. */
  show(text) {
    if (text === this.text) return;
    if (!this.lines.length || !text.startsWith(this.text)) {
      this.element.replaceChildren();
      this.lines = [];
      this.text = "";
      this.timed = 0;
    }
    const added = text.slice(this.text.length);
    let start = this.text.length;
    this.text = text;
    if (this.lines.length === 0) this.#line(0);
    let from = 0;
    for (;;) {
      const end = added.indexOf("\n", from);
      const piece = end < 0 ? added.slice(from) : added.slice(from, end);
      this.#append(piece, start + from);
      if (end < 0) break;
      from = end + 1;
      this.#line(start + from);
    }
  }

  #append(piece, at) {
    let rest = piece;
    let start = at;
    while (rest) {
      const last = this.lines.at(-1);
      const room = LONGEST - last.node.length;
      if (room <= 0) {
        this.#line(start);
        continue;
      }
      const cut = rest.length > room ? cutAt(rest, room) : rest.length;
      last.node.appendData(rest.slice(0, cut));
      rest = rest.slice(cut);
      start += cut;
      if (rest) this.#line(start);
    }
  }

  #line(start) {
    let block = this.element.lastElementChild;
    if (!block || block.childElementCount >= BLOCK) {
      block = h("div", { class: "block" });
      this.element.append(block);
    }
    const node = document.createTextNode("");
    const element = h("div", { class: "ln" });
    element.append(node);
    block.append(element);
    this.lines.push({ start, element, node });
  }

  /** Writes the times of lines that have none yet. `from` 0 writes all again. */
  showTimes(from = this.timed) {
    if (!this.time) return;
    for (let i = from; i < this.lines.length; i += 1) {
      const line = this.lines[i];
      // The time of a line is that of its first character, and an empty last line has none yet.
      const time = line.node.length || i + 1 < this.lines.length ? this.time(line.start) : null;
      if (time === null) break;
      if (time.label) line.element.dataset.t = time.label;
      line.element.classList.toggle("after-gap", time.gap);
      this.timed = i + 1;
    }
  }

  #lineOf(at) {
    let low = 0;
    let high = this.lines.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.lines[middle].start <= at) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }

  /** A range over the characters `from..to`, or `null` if they are not here. */
  range(from, to) {
    const first = this.lines[this.#lineOf(from)];
    const last = this.lines[this.#lineOf(Math.max(from, to - 1))];
    if (!first || !last) return null;
    const range = document.createRange();
    range.setStart(first.node, Math.min(first.node.length, from - first.start));
    range.setEnd(last.node, Math.min(last.node.length, to - last.start));
    return range;
  }

  /** The character of a text node of this text, or -1. */
  positionOf(node, offset) {
    const at = this.lines.findIndex((line) => line.node === node);
    return at < 0 ? -1 : this.lines[at].start + offset;
  }

  /** The element of the line that holds a character. */
  lineElement(at) {
    return this.lines[this.#lineOf(at)]?.element ?? null;
  }
}

/** Where a long line is cut: after a space, never inside a pair of surrogates. */
function cutAt(text, room) {
  const space = text.lastIndexOf(" ", room - 1);
  if (space > room / 2) return space + 1;
  const code = text.charCodeAt(room - 1);
  return code >= 0xd800 && code < 0xdc00 ? room - 1 || 1 : room;
}
