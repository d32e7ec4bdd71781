// The findings: the sentence with its values, where it is, why it matters and what to do.
import * as api from "./api.js";
import { fill, h, prose } from "./dom.js";
import { number, seconds } from "./format.js";
import { countFindings, findingCounts, severityMark } from "./marks.js";
import { explanationOf, sentenceOf, t } from "./words.js";

export class Findings {
  /** @param {import("./selection.js").Selection} selection */
  constructor(selection) {
    this.selection = selection;
    this.counts = h("span", { class: "counts" });
    const key = (name, label, by) => h("button", { class: "key", type: "button", title: t(label), "aria-label": t(label), onclick: () => this.step(by) }, h("kbd", null, name));
    this.head = h("header", { class: "pane-head findings-head" }, h("h2", null, t("tab.findings")), this.counts, h("span", { class: "grow" }), key("[", "findings.previous", -1), key("]", "findings.next", 1));
    this.list = h("div", { class: "findings-list", "aria-live": "polite" });
    this.element = h("section", { class: "findings-pane", "aria-label": t("tab.findings") }, this.head, this.list);
    this.findings = [];
    this.shown = "";
    this.catalogue = new Map();
    api.findings().then((catalogue) => {
      this.catalogue = catalogue;
      this.#open();
    }, () => {});
  }

  /** @param {{ reading: any, source: any, open: boolean }} model */
  show({ reading, source, open }) {
    this.findings = reading.findings;
    this.source = source;
    // A plain error body is no stream: it is not said to have ended in an error.
    this.errorBody = reading.framing === "json";
    const key = JSON.stringify([reading.findings, open, reading.outputs.length, Boolean(reading.usage), source.hasTimes]);
    if (key === this.shown) return;
    this.shown = key;
    fill(this.counts, findingCounts(countFindings(this.findings)));
    if (this.findings.length === 0) {
      const finishes = reading.outputs.filter((output) => output.finish).length;
      const words = open ? t("findings.nothing-so-far-text") : t("findings.nothing-text", { choices: finishes, usage: Boolean(reading.usage) });
      fill(this.list, h("div", { class: "nothing-wrong" }, h("b", null, t(open ? "findings.nothing-so-far" : "findings.nothing")), h("p", null, words)));
      return;
    }
    fill(this.list, this.findings.map((finding, i) => this.#item(finding, i)));
    this.isOpen = open;
    this.#open();
  }

  #item(finding, i) {
    const links = h("div", { class: "links" }, h("span", { class: "mono dim" }, finding.id));
    const go = (event) => {
      event.stopPropagation();
      this.#select(i);
    };
    if (finding.frame !== null) links.append(h("button", { class: "frame-link", type: "button", onclick: go }, `#${number(finding.frame)}`));
    if (finding.line !== null) links.append(h("button", { class: "frame-link", type: "button", onclick: go }, t("findings.line", { n: number(finding.line) })));
    const at = finding.frame === null ? Number.NaN : this.source.at[finding.frame];
    if (finding.frame !== null && finding.frame < this.source.count && !Number.isNaN(at)) {
      links.append(h("button", { class: "frame-link", type: "button", onclick: go }, `${seconds(at)} s`));
    }
    if (finding.count > 1) links.append(h("span", { class: "dim" }, t("findings.times", { n: finding.count - 1 })));
    const button = h("button", { class: "sentence", type: "button", "aria-expanded": "false", onclick: () => this.#select(i) }, prose(this.#sentence(finding)));
    return h("article", { class: `finding ${finding.severity}`, onclick: () => this.#select(i) }, severityMark(finding.severity), h("div", null, button, links, h("div", { class: "why", hidden: true })));
  }

  #sentence(finding) {
    return this.#isErrorBody(finding) ? t("findings.error-body", finding.args) : sentenceOf(finding);
  }

  #isErrorBody(finding) {
    return this.errorBody && finding.id === "error-event";
  }

  /** Why it matters and what to do; nothing while the catalogue has not come. */
  #explanation(finding) {
    if (this.#isErrorBody(finding)) return { why: t("findings.error-body-why"), advice: t("findings.error-body-what") };
    const entry = this.catalogue.get(finding.id);
    return entry && explanationOf(entry);
  }

  /** Opens the selected one; the first one where none is and nothing can change any more. */
  #open() {
    const { finding: selected } = this.selection.value;
    const opened = selected ?? (this.isOpen ? null : 0);
    [...this.list.children].forEach((item, i) => {
      const why = item.querySelector(".why");
      if (!why) return;
      const open = i === opened;
      item.classList.toggle("selected", i === selected);
      item.querySelector(".sentence").setAttribute("aria-expanded", String(open));
      const entry = this.#explanation(this.findings[i]);
      why.hidden = !open || !entry;
      if (!why.hidden && why.childElementCount === 0) {
        fill(why, h("h3", null, t("findings.why")), h("p", null, prose(entry.why)), h("h3", null, t("findings.what")), h("p", null, prose(entry.advice)));
      }
    });
  }

  #select(i) {
    const { frame } = this.findings[i];
    this.selection.set({ finding: i, frame: frame ?? this.selection.value.frame, span: null }, { replace: false, from: "findings" });
  }

  /** Selects the next or the previous finding. */
  step(by) {
    const n = this.findings.length;
    if (n === 0) return false;
    const { finding } = this.selection.value;
    this.#select(finding === null ? (by > 0 ? 0 : n - 1) : (finding + by + n) % n);
    return true;
  }

  /** Shows the selection; scrolls to it unless it was made here. */
  mark(scroll) {
    this.#open();
    const item = this.list.children[this.selection.value.finding ?? -1];
    if (scroll && item) item.scrollIntoView({ block: "nearest" });
  }
}
