// The list's rows: a virtual list of rows of one height. A row that stays in view stays the same element, and
// only the cells that changed are written, so that focus, hover and selected text survive every update.
import { fill, h, text } from "./dom.js";
import { COMING, NEVER, clock, count, day, dayKey, durationParts, shortFormat } from "./format.js";
import { marked } from "./comparemark.js";
import { findingCounts, stateMark, stateOf, toolChips } from "./marks.js";
import { reasonOf } from "./reason.js";
import { Spark } from "./spark.js";
import { t } from "./words.js";

/** That it repeats a request, and the way to the try before. */
function retryChip(summary) {
  const label = t("list.retry", { n: summary.retry });
  if (!summary.retry_of) return h("span", { class: "chip" }, label);
  const title = t("list.retry-of");
  return h("a", { class: "chip", href: `/captures/${summary.retry_of}`, title, tabindex: "-1" }, label);
}

/** Rows drawn beyond the edges, so that a quick scroll shows no holes. */
const BEYOND = 8;

class Row {
  constructor() {
    const cell = (name, ...children) => h("span", { class: name, role: "gridcell" }, children);
    this.mark = cell("c-mark");
    this.time = cell("c-time");
    this.upstreamName = h("b");
    this.formatName = h("span", { class: "dim" });
    this.model = cell("c-model");
    this.preview = h("span", { class: "preview" });
    // The link lies over the whole row: it opens in another tab as links do.
    this.link = h("a", { class: "row-link", tabindex: "-1" }, this.preview);
    this.chips = h("span", { class: "chips" });
    this.input = cell("n c-in");
    this.output = cell("n c-out");
    this.first = cell("n c-first");
    this.total = cell("n c-total");
    this.spark = new Spark();
    this.findings = cell("n c-findings");
    const narrowModel = h("span", { class: "model-under" });
    this.modelUnder = narrowModel;
    this.tokens = h("span", { class: "tokens-under" });
    this.element = h(
      "div",
      { class: "row", role: "row", tabindex: "-1" },
      this.mark,
      this.time,
      cell("c-upstream", h("span", { class: "names" }, this.upstreamName, " ", this.formatName), narrowModel),
      this.model,
      cell("c-answer", this.link, this.chips),
      this.input,
      this.output,
      this.first,
      this.total,
      cell("c-spark", this.spark.element),
      this.findings,
      this.tokens,
    );
    this.written = {};
  }

  /** Runs `write` only where the value differs from the one written last. */
  #once(name, value, write) {
    if (this.written[name] === value) return;
    this.written[name] = value;
    write(value);
  }

  show(summary) {
    const state = stateOf(summary);
    const open = state === "open";
    const started = new Date(summary.started_at);
    this.#once("id", summary.id, () => {
      this.element.dataset.id = summary.id;
      this.link.setAttribute("href", `/captures/${summary.id}`);
    });
    const isMarked = marked() === summary.id;
    this.#once("mark", `${state} ${isMarked}`, () => fill(this.mark, isMarked ? h("span", { class: "side", title: t("key.mark") }, "A") : stateMark(state)));
    this.#once("time", summary.started_at, () => {
      this.time.textContent = clock(started);
      this.time.title = "";
    });
    text(this.upstreamName, summary.upstream);
    text(this.formatName, shortFormat(summary.format, summary.upstream));
    text(this.model, summary.model ?? (open ? COMING : NEVER));
    text(this.modelUnder, summary.model ?? "");
    this.#once("title", summary.model, () => (this.model.title = summary.model ?? ""));
    this.#answer(summary, state);
    const label = [summary.upstream, summary.model, t(`state.${state}`), this.preview.textContent].filter(Boolean).join(" · ");
    this.#once("label", label, () => this.link.setAttribute("aria-label", label));
    const usage = summary.usage;
    text(this.input, usage?.input_tokens != null ? count(usage.input_tokens) : open ? COMING : NEVER);
    text(this.output, open ? COMING : count(usage?.output_tokens));
    this.#once("none", [usage?.input_tokens == null, usage?.output_tokens == null, open].join(), () => {
      this.input.classList.toggle("dim", usage?.input_tokens == null);
      this.output.classList.toggle("dim", usage?.output_tokens == null);
      this.total.classList.toggle("running", open);
    });
    text(this.tokens, `${this.input.textContent} → ${this.output.textContent}`);
    this.#duration(this.first, "first", summary.first_text_ms, open);
    this.#duration(this.total, "total", open ? Math.max(0, Date.now() - started.getTime()) : summary.duration_ms, open);
    this.spark.show(summary.spark, state);
    const { error, warning, note } = summary.findings;
    this.#once("findings", `${error},${warning},${note}`, () => fill(this.findings, findingCounts(summary.findings)));
  }

  #duration(cell, name, ms, open) {
    const parts = ms === null || ms === undefined ? [open ? COMING : NEVER, ""] : durationParts(ms);
    this.#once(name, parts.join(), () => {
      fill(cell, parts[0], parts[1] && h("small", null, ` ${parts[1]}`));
      cell.classList.toggle("dim", !parts[1]);
    });
  }

  #answer(summary, state) {
    const reason = reasonOf(summary, state);
    const alone = reason?.alone ? reason.text : "";
    this.#once("alone", alone, () => this.preview.classList.toggle("red", Boolean(alone)));
    text(this.preview, alone || summary.preview.replace(/\s+/g, " "));
    const chips = `${summary.tool_names.join("\0")}|${summary.choices}|${alone ? "" : (reason?.text ?? "")}|${state === "open"}|${summary.retry}`;
    this.#once("chips", chips, () => {
      fill(
        this.chips,
        toolChips(summary.tool_names),
        summary.retry && retryChip(summary),
        summary.choices > 1 && h("span", { class: "chip" }, t("list.choices", { n: summary.choices })),
        reason && !alone && h("span", { class: `chip ${reason.tone}` }, reason.text),
        state === "open" && h("span", { class: "caret" }),
      );
    });
  }
}

/** The virtual list. Items are summaries, and `{ day }` where the date changes. */
export class Rows {
  /**
   * @param {HTMLElement} root what scrolls
   * @param {{ nearEnd: () => void, scrolled: () => void }} handlers
   */
  constructor(root, handlers) {
    this.root = root;
    this.handlers = handlers;
    this.spacer = h("div", { class: "spacer", role: "rowgroup" });
    root.append(this.spacer);
    /** @type {any[]} */
    this.items = [];
    /** @type {Map<string, { row: Row, top: number }>} */
    this.drawn = new Map();
    this.selected = null;
    /** Told that another row is selected. @type {(() => void) | null} */
    this.onSelect = null;
    root.addEventListener("scroll", () => {
      this.draw();
      handlers.scrolled();
    }, { passive: true });
    new ResizeObserver(() => this.measure()).observe(root);
    this.measure();
  }

  /** Takes the height of a row from the style sheet: it depends on the width. */
  measure() {
    const value = getComputedStyle(this.root).getPropertyValue("--row");
    this.height = Number.parseFloat(value) || 36;
    this.spacer.style.height = `${this.items.length * this.height}px`;
    this.draw();
  }

  /** @param {any[]} summaries newest first */
  setItems(summaries) {
    this.items = withDays(summaries);
    this.index = new Map(this.items.map((item, i) => [item.id ?? `day ${item.day}`, i]));
    this.root.setAttribute("aria-rowcount", String(summaries.length));
    this.spacer.style.height = `${this.items.length * this.height}px`;
    this.draw();
  }

  /** Keeps what is in view where it is while `n` rows come in above it. */
  keepView(n) {
    this.root.scrollTop += n * this.height;
  }

  atTop() {
    return this.root.scrollTop < 4;
  }

  draw() {
    const { height, root, items } = this;
    const first = Math.max(0, Math.floor(root.scrollTop / height) - BEYOND);
    const last = Math.min(items.length, Math.ceil((root.scrollTop + root.clientHeight) / height) + BEYOND);
    const wanted = new Map();
    for (let i = first; i < last; i += 1) wanted.set(items[i].id ?? `day ${items[i].day}`, i);
    for (const [key, drawn] of this.drawn) {
      if (wanted.has(key)) continue;
      drawn.element.remove();
      this.drawn.delete(key);
    }
    // Those that are there first: a new row finds its place among them by where they stand now.
    for (const [key, i] of wanted) if (this.drawn.has(key)) this.#place(key, i);
    for (const [key, i] of wanted) if (!this.drawn.has(key)) this.#place(key, i);
    if (items.length > 0 && last > items.length - 40) this.handlers.nearEnd();
  }

  #place(key, i) {
    const item = this.items[i];
    let drawn = this.drawn.get(key);
    if (!drawn) {
      const row = item.id ? new Row() : null;
      drawn = { row, element: row ? row.element : h("div", { class: "day", role: "presentation" }, day(item.date)), top: -1 };
      this.drawn.set(key, drawn);
      if (item.fresh) {
        drawn.element.classList.add("fresh");
        item.fresh = false;
      }
      this.#insert(drawn.element, i);
    }
    if (drawn.top !== i) {
      drawn.top = i;
      drawn.element.style.transform = `translateY(${i * this.height}px)`;
      drawn.element.setAttribute("aria-rowindex", String(i + 1));
    }
    drawn.row?.show(item);
    const isSelected = item.id !== undefined && item.id === this.selected;
    if (drawn.element.classList.contains("selected") !== isSelected) {
      drawn.element.classList.toggle("selected", isSelected);
      drawn.element.tabIndex = isSelected ? 0 : -1;
    }
  }

  /** Puts a new row before the next one that is drawn: the order in the document is that on the screen. */
  #insert(element, i) {
    let next = null;
    for (const other of this.drawn.values()) {
      if (other.element !== element && other.top > i && (next === null || other.top < next.top)) next = other;
    }
    this.spacer.insertBefore(element, next?.element ?? null);
  }

  /** Writes a row again after its summary changed. */
  update(summary) {
    const i = this.index?.get(summary.id);
    if (i === undefined) return;
    this.items[i] = summary;
    if (this.drawn.has(summary.id)) this.#place(summary.id, i);
  }

  /** Selects a row and scrolls it into view, and no further than needed. */
  select(id, focus = true) {
    if (id !== this.selected) this.onSelect?.();
    this.selected = id;
    const i = this.index?.get(id);
    if (i !== undefined) {
      const top = i * this.height;
      const { scrollTop, clientHeight } = this.root;
      if (top < scrollTop) this.root.scrollTop = top;
      else if (top + this.height > scrollTop + clientHeight) this.root.scrollTop = top + this.height - clientHeight;
    }
    this.draw();
    if (focus) this.drawn.get(id)?.element.focus({ preventScroll: true });
  }

  /** The capture `by` rows from the selected one. */
  neighbour(by) {
    const captures = this.items.filter((item) => item.id);
    const at = captures.findIndex((item) => item.id === this.selected);
    if (at < 0) return captures[by > 0 ? Math.max(0, this.#firstVisible(captures)) : 0];
    return captures[Math.min(captures.length - 1, Math.max(0, at + by))];
  }

  #firstVisible(captures) {
    const first = this.items[Math.ceil(this.root.scrollTop / this.height)];
    return captures.indexOf(first?.id ? first : captures[0]);
  }
}

/** Puts a row with the date where the day changes; today's captures need none. */
function withDays(summaries) {
  const items = [];
  let [from, to] = dayOf(new Date());
  for (const summary of summaries) {
    const at = Date.parse(summary.started_at);
    if (at < from || at >= to) {
      const date = new Date(at);
      [from, to] = dayOf(date);
      items.push({ day: dayKey(date), date });
    }
    items.push(summary);
  }
  return items;
}

/** Where a day begins and where the next one does, by the local calendar. */
function dayOf(date) {
  const at = (days) => new Date(date.getFullYear(), date.getMonth(), date.getDate() + days).getTime();
  return [at(0), at(1)];
}
