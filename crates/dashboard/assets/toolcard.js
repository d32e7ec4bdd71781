// A tool call: its name, its arguments indented where they are JSON, or as they came with the place where they
// stop being JSON, and the frames that carried it.
import { fill, h, icon } from "./dom.js";
import { check, pretty } from "./json.js";
import { Lines } from "./lines.js";
import { severityMark } from "./marks.js";
import { copyButton } from "./shell.js";
import { t } from "./words.js";
import { characters } from "./verdict.js";

export class ToolCard {
  /** @param {{ link: (first: number, last: number) => HTMLElement }} options */
  constructor({ link }) {
    this.link = link;
    this.status = h("span", { class: "tool-status" });
    this.name = h("b", { class: "mono" });
    this.number = h("span", { class: "dim" });
    this.id = h("span", { class: "mono call-id dim" });
    this.lines = new Lines({ mono: true });
    this.reason = h("div", { class: "tool-reason", hidden: true });
    this.foot = h("div", { class: "tool-foot" });
    this.element = h(
      "section",
      { class: "tool-card" },
      h("header", null, icon("wrench"), this.name, this.number, this.id, h("span", { class: "grow" }), this.status, copyButton(t("copy"), () => this.arguments)),
      h("div", { class: "tool-body" }, this.lines.element, this.reason),
      this.foot,
    );
    this.arguments = "";
    /** Where a character of the arguments stands in what is shown; `null`: at the same place. */
    this.map = null;
    this.asText = false;
  }

  /**
   * @param {any} part a part of kind `tool-call`, or of what the provider runs
   * @param {{ open: boolean, runs: any, interleaved: number | null }} how
   */
  show(part, how) {
    this.part = part;
    this.how = how;
    this.arguments = part.arguments ?? part.text ?? "";
    this.name.textContent = part.name ?? "—";
    this.number.textContent = part.kind === "tool-call" ? t("tool.call", { n: part.index }) : t("tool.provider");
    this.id.textContent = part.id ?? "";
    this.#body();
    this.#footer();
  }

  /** What is wrong with the arguments, if anything is. */
  #judge() {
    const { part, how } = this;
    if (how.open && !part.complete) return { status: "coming" };
    const found = this.arguments === "" ? { valid: false, at: 0, ends: true, opener: null, empty: true } : check(this.arguments);
    if (!part.complete && part.kind === "tool-call" && !found.valid) return { status: "open", ...found };
    if (found.empty) return { status: "empty" };
    return { status: found.valid ? "valid" : "invalid", ...found };
  }

  #body() {
    const found = this.#judge();
    const wrong = found.status === "invalid" || found.status === "open";
    this.element.classList.toggle("wrong", wrong);
    fill(this.status, wrong && severityMark("error"), t(`tool.${found.status}`));
    this.status.classList.toggle("red", wrong);
    const indented = found.status === "valid" && !this.asText ? pretty(this.arguments) : null;
    this.map = indented?.map ?? null;
    this.lines.show(indented ? indented.text : this.arguments);
    this.#fault(wrong ? found : null);
  }

  /** Marks where the arguments stop being JSON, and what was never closed. */
  #fault(found) {
    this.reason.hidden = !found;
    this.stop?.remove();
    this.stop = null;
    this.opener = null;
    if (!found) return;
    const { at, ends, opener } = found;
    const words = found.status === "open" && ends ? t("tool.stops") : t(ends ? "tool.ends" : "tool.breaks", { n: at });
    this.stop = h("span", { class: "stop-label" }, words);
    const line = this.lines.lineElement(Math.max(0, at - 1));
    if (line && ends) line.append(this.stop);
    else if (line) line.after(this.stop);
    else this.lines.element.append(this.stop);
    this.opener = opener;
    fill(this.reason, opener !== null && [h("span", { class: "up" }, "↑ "), t("tool.opened", { n: opener + 1 })]);
    this.reason.hidden = opener === null;
  }

  /** The range of what was opened and never closed, for marking. */
  faultRange() {
    return this.opener === null || this.opener === undefined ? null : this.lines.range(this.opener, this.opener + 1);
  }

  #footer() {
    const { first, last, count } = this.how.runs.summary();
    const n = characters(this.arguments);
    const switchable = this.element.classList.contains("wrong") ? false : this.status.textContent === t("tool.valid");
    fill(
      this.foot,
      first !== null && this.link(first, last),
      h("span", null, count > 0 ? t("tool.fragments", { n: count }) : "", count > 0 && n > 0 ? t("verdict.list") : "", n > 0 ? t("tool.characters", { n }) : ""),
      this.how.interleaved !== null && h("span", null, t("tool.interleaved", { n: this.how.interleaved })),
      h("span", { class: "grow" }),
      switchable &&
        h("button", { class: "link", type: "button", onclick: () => this.#toggle() }, t(this.asText ? "tool.as-json" : "tool.as-text")),
    );
  }

  #toggle() {
    this.asText = !this.asText;
    this.#body();
    this.#footer();
    this.onToggle?.();
  }

  /** A range over characters of the arguments. */
  range(from, to) {
    if (!this.map) return this.lines.range(from, to);
    return this.lines.range(this.map[from], Math.max(this.map[from] + 1, this.map[Math.max(from, to - 1)] + 1));
  }

  /** The character of the arguments at a place in what is shown, or -1. */
  positionOf(node, offset) {
    const shown = this.lines.positionOf(node, offset);
    if (shown < 0 || !this.map) return shown;
    let low = 0;
    let high = this.map.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.map[middle] <= shown) low = middle + 1;
      else high = middle;
    }
    return Math.max(0, low - 1);
  }
}
