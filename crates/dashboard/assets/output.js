// One choice of an answer: its blocks in stream order and why it stopped.
import { FLOWING, makeBlock, textOf } from "./blocks.js";
import { fill, h, prose } from "./dom.js";
import { clause } from "./format.js";
import { copyButton } from "./shell.js";
import { characters } from "./verdict.js";
import { meaningOf, t } from "./words.js";

/** One choice. */
export class OutputView {
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

  /** Why it stopped; at a moment before its last text that had not come yet. */
  showFinish(scrub = null) {
    const { finish } = this.output;
    this.finish.hidden = !finish;
    if (!finish) return;
    const last = Math.max(-1, ...this.blocks.map((block) => block.runs().summary().last ?? -1));
    const later = scrub !== null && scrub < last;
    const key = `${finish.reason} ${later}`;
    if (this.finish.dataset.key === key) return;
    this.finish.dataset.key = key;
    this.finish.classList.toggle("later", later);
    const title = finish.source ? `${finish.source} (${finish.as_of})` : null;
    fill(this.finish, h("span", { class: "chip mono" }, finish.reason), h("span", { title }, later ? t("answer.not-yet") : prose(clause(meaningOf(finish.meaning) ?? ""))));
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
