// A frame that is opened: its bytes as lines, with what is not seen made visible, or its data as JSON.
import { fill, h } from "./dom.js";
import { number, size } from "./format.js";
import { check, pretty } from "./json.js";
import { copyButton } from "./shell.js";
import { t } from "./words.js";

const LF = 10;
const CR = 13;
const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Cuts bytes into lines, each with its line end. */
function linesOf(bytes) {
  const lines = [];
  let start = 0;
  for (let i = 0; i < bytes.length; i += 1) {
    if (bytes[i] !== LF && bytes[i] !== CR) continue;
    const both = bytes[i] === CR && bytes[i + 1] === LF;
    lines.push({ bytes: bytes.subarray(start, i), end: both ? "CRLF" : bytes[i] === LF ? "LF" : "CR" });
    if (both) i += 1;
    start = i + 1;
  }
  if (start < bytes.length) lines.push({ bytes: bytes.subarray(start), end: "" });
  return lines;
}

/** The length of the UTF-8 character at `i`, 0 if there is none. */
function characterLength(bytes, i) {
  const first = bytes[i];
  const length = first < 0x80 ? 1 : first >= 0xc2 && first < 0xe0 ? 2 : first >= 0xe0 && first < 0xf0 ? 3 : first >= 0xf0 && first < 0xf5 ? 4 : 0;
  if (length < 2) return length;
  try {
    strict.decode(bytes.subarray(i, i + length));
    return i + length <= bytes.length ? length : 0;
  } catch {
    return 0;
  }
}

const box = (words) => h("span", { class: "line-end" }, words);
const hex = (byte) => byte.toString(16).toUpperCase().padStart(2, "0");

/** Control characters, and what looks like nothing, by name. */
function visible(text) {
  const pieces = [];
  let last = 0;
  for (const match of text.matchAll(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g)) {
    pieces.push(text.slice(last, match.index));
    const code = match[0].charCodeAt(0);
    pieces.push(box(code === 0xfeff ? "BOM" : `U+${code.toString(16).toUpperCase().padStart(4, "0")}`));
    last = match.index + 1;
  }
  pieces.push(text.slice(last));
  return pieces;
}

/** A line as nodes: text, and bytes that are no UTF-8 as hexadecimal. */
function lineNodes(bytes) {
  try {
    return visible(strict.decode(bytes));
  } catch {
    // Some bytes are bad: they are looked for below.
  }
  const nodes = [];
  let start = 0;
  for (let i = 0; i < bytes.length; ) {
    const length = characterLength(bytes, i);
    if (length > 0) {
      i += length;
      continue;
    }
    nodes.push(...visible(strict.decode(bytes.subarray(start, i))));
    nodes.push(h("span", { class: "bad-byte" }, hex(bytes[i])));
    i += 1;
    start = i;
  }
  nodes.push(...visible(strict.decode(bytes.subarray(start))));
  return nodes;
}

export class OpenedFrame {
  /**
   * @param {any} source
   * @param {number} frame
   * @param {{ resized: (first: boolean) => void, ending: boolean }} options `resized(true)`: its lines have come; `ending`: the bytes stop in this frame
   */
  constructor(source, frame, { resized, ending }) {
    this.source = source;
    this.frame = frame;
    this.ending = ending;
    this.height = 0;
    this.range = h("span", { class: "range" });
    this.body = h("div", { class: "opened-body mono" }, h("span", { class: "dim" }, t("frames.loading")));
    this.tabs = ["raw", "json"].map((kind) => h("button", { type: "button", "aria-pressed": String(kind === "raw"), data: { kind }, onclick: () => this.show(kind) }, t(`frames.${kind}`)));
    this.element = h(
      "div",
      { class: `opened${ending ? " cut" : ""}`, role: "row", onclick: (event) => event.stopPropagation(), ondblclick: (event) => event.stopPropagation() },
      h(
        "div",
        { role: "gridcell" },
        h("div", { class: "opened-head" }, this.tabs, h("span", { class: "grow" }), this.range, copyButton(t("copy"), () => this.body.innerText)),
        this.body,
      ),
    );
    new ResizeObserver(() => {
      if (this.element.offsetHeight === this.height) return;
      this.height = this.element.offsetHeight;
      resized(!this.settled && this.loaded);
      this.settled ||= this.loaded;
    }).observe(this.element);
    this.show("raw");
  }

  async show(kind) {
    for (const tab of this.tabs) tab.setAttribute("aria-pressed", String(tab.dataset.kind === kind));
    this.kind = kind;
    try {
      const content = kind === "raw" ? await this.#raw() : await this.#json();
      if (this.kind === kind) fill(this.body, content);
      this.loaded = true;
    } catch (error) {
      fill(this.body, t("frames.failed", { why: error.message }));
    }
  }

  async #raw() {
    const raw = await this.source.raw(this.frame);
    if (!raw) return t("frames.loading");
    if (raw.bytes === null) return h("span", { class: "dim" }, t("frames.not-decoded"));
    if (raw.size !== undefined) this.range.textContent = t("frames.payload", { n: number(raw.size) });
    else this.range.textContent = t("frames.range", { from: number(raw.offset), to: number(raw.offset + raw.length) });
    const lines = linesOf(raw.bytes);
    const cut = raw.bytes.length < raw.length;
    const nodes = lines.map((line, i) =>
      h("div", { class: "raw-line" }, h("span", { class: "line-number" }, number(raw.line + i)), h("span", null, lineNodes(line.bytes), line.end && box(line.end), this.ending && i + 1 === lines.length && h("span", { class: "stop-label" }, t("frames.stop")))),
    );
    if (cut) nodes.push(h("p", { class: "dim" }, t("frames.shortened", { size: size(raw.bytes.length) })));
    return nodes;
  }

  async #json() {
    const data = (await this.source.whole(this.frame))?.data ?? "";
    if (!check(data).valid) return h("span", { class: "dim" }, t("frames.not-json"));
    return h("pre", { class: "json-text" }, pretty(data).text);
  }
}
