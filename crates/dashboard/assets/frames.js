// The table of frames: virtual, so that a hundred thousand are as quick as a hundred. Rows have one height, apart
// from the one that is opened and the rows that stand for a silence.
import { debounce, fill, h, icon, perFrame, text, throttle } from "./dom.js";
import { delta, durationParts, number, oneLine, seconds, size } from "./format.js";
import { OpenedFrame } from "./openedframe.js";
import { KINDS, NO_OUTPUT } from "./source.js";
import { carriedOf, t } from "./words.js";

const ROW = 24;
const GAP = 20;
const BEYOND = 12;
/** Browsers stop at some height; beyond it the scroll bar is coarser than a row. */
const TALLEST = 14_000_000;

class FrameRow {
  constructor() {
    const cell = (name) => h("span", { class: name, role: "gridcell" });
    this.number = cell("n f-number");
    this.delta = cell("n f-delta");
    this.at = cell("n f-at");
    // Cut at their beginning: the end of an event's name is what tells it from the others.
    this.event = h("bdi");
    const event = h("span", { class: "f-event", role: "gridcell" }, this.event);
    this.swatch = h("i", { class: "swatch" });
    this.carried = h("span", { class: "f-what" });
    this.snippet = h("span", { class: "f-snippet" });
    this.bytes = cell("n f-bytes");
    this.element = h("div", { class: "frame", role: "row" }, this.number, this.delta, this.at, event, h("span", { class: "f-carried", role: "gridcell" }, this.swatch, this.carried, this.snippet), this.bytes);
  }

  show(i, source, { choices, severities, cut, at }) {
    const row = source.row(i);
    const kind = KINDS[source.kind[i]];
    text(this.number, number(i));
    const since = source.delta(i);
    text(this.delta, Number.isNaN(since) ? "" : delta(since));
    text(this.at, Number.isNaN(source.at[i]) ? "" : seconds(source.at[i]));
    text(this.event, row ? (row.event ?? "") : "");
    this.event.title = row?.event ?? "";
    this.swatch.className = `swatch ${kind}`;
    this.carried.className = `f-what ${kind}`;
    text(this.carried, i === cut ? t("frames.cut", { bytes: size(source.length[i]) }) : row ? this.#carried(row, choices, source.output[i]) : "…");
    text(this.snippet, row ? oneLine(row.snippet ?? "") : "");
    text(this.bytes, number(source.length[i]));
    this.element.classList.toggle("cut", i === cut);
    this.element.classList.toggle("warned", severities.get(i) === "warning");
    this.element.classList.toggle("later", at !== null && i > at);
    this.element.dataset.i = String(i);
  }

  /** With several choices every row says which one it is about. */
  #carried(row, choices, output) {
    // It was read, and nothing is to be shown of it: an empty delta for one. Where nothing was read nothing is claimed.
    const words = row.carried || (row.kind === "control" ? "+0" : "");
    if (!words || choices < 2 || output === NO_OUTPUT || /^(choice|candidate) /.test(words)) return carriedOf(words);
    return `${t("lane.choice", { n: row.output })} ${carriedOf(words)}`;
  }
}

export class FrameTable {
  /** @param {import("./selection.js").Selection} selection */
  constructor(selection) {
    this.selection = selection;
    this.total = h("span", { class: "total" });
    this.filter = /** @type {HTMLInputElement} */ (h("input", { type: "search", placeholder: t("frames.filter"), "aria-label": t("frames.filter"), autocomplete: "off", spellcheck: "false" }));
    this.head = h("header", { class: "pane-head" }, h("h2", null, t("frames.title")), this.total, h("span", { class: "grow" }), h("label", { class: "frame-filter" }, icon("filter"), this.filter, h("kbd", null, "f")));
    const column = (name, cls) => h("span", { class: cls }, t(`frames.${name}`));
    this.columns = h("div", { class: "frames-head", "aria-hidden": "true" }, column("number", "n"), column("delta", "n f-delta"), column("at", "n f-at"), column("event", "f-event"), column("carried", ""), column("bytes", "n"));
    this.spacer = h("div", { class: "frames-spacer", role: "rowgroup" });
    this.scroller = h("div", { class: "frames-scroll", role: "grid", "aria-label": t("frames.title"), tabindex: "0" }, this.spacer);
    this.foot = h("div", { class: "frames-foot", hidden: true });
    this.problem = h("div", { class: "part-failed", hidden: true });
    this.element = h("section", { class: "frames-pane", "aria-label": t("frames.title") }, this.head, this.columns, this.problem, this.scroller, this.foot);
    this.drawn = new Map();
    this.gapsDrawn = new Map();
    this.opened = null;
    /** The frames that the filter lets through; `null`: all. @type {number[] | null} */
    this.matching = null;
    this.following = true;
    this.behind = 0;
    this.severities = new Map();
    this.redraw = perFrame(() => this.draw());
    this.#listen();
  }

  /** @param {{ source: any, open: boolean, reading: any, ending: any }} model */
  show({ source, open, reading, ending }) {
    if (this.source !== source) {
      this.source = source;
      source.onRows(() => {
        this.redraw();
        this.onRows?.();
      });
    }
    const grew = source.count - (this.count ?? 0);
    this.count = source.count;
    this.model = { open, ending, choices: reading.outputs.length };
    this.severities = severitiesOf(reading.findings);
    this.cut = reading.findings.find((finding) => finding.id === "cut")?.frame ?? null;
    const digits = number(source.count).length;
    if (digits > 4) this.element.style.setProperty("--number", `${digits * 7.3 + 4}px`);
    this.element.classList.toggle("no-events", !source.hasEvents);
    this.element.classList.toggle("no-times", !source.hasTimes);
    if (open && grew > 0 && !this.following) this.behind += grew;
    if (grew > 0 && this.matching !== null) this.filterAgain();
    this.#total();
    this.#foot();
    this.#ending();
    this.layout();
    if (open && this.following && grew > 0 && this.matching === null) this.scroller.scrollTop = this.scroller.scrollHeight;
  }

  #total() {
    if (this.matching === null) text(this.total, number(this.source.count));
    else text(this.total, t(this.more ? "frames.matching-more" : "frames.matching", { n: this.matching.length, all: this.source.count }));
  }

  #foot() {
    this.foot.hidden = !this.model.open;
    if (!this.model.open) return;
    const follow = () => {
      this.following = true;
      this.behind = 0;
      this.scroller.scrollTop = this.scroller.scrollHeight;
      this.#foot();
    };
    const key = `${this.following}${this.behind}`;
    if (this.foot.dataset.key === key) return;
    this.foot.dataset.key = key;
    if (this.following) fill(this.foot, h("span", { class: "chip green" }, t("frames.following")), h("span", null, t("frames.follow-hint")));
    else fill(this.foot, h("button", { class: "chip green", type: "button", onclick: follow }, t("frames.more", { n: this.behind })));
  }

  /** How the stream broke, as a row of its own after the last frame. */
  #ending() {
    const { ending } = this.model;
    this.end ??= h("div", { class: "frames-end", role: "row" }, h("div", { role: "gridcell" }));
    if (!ending?.row || this.matching !== null) this.end.remove();
    else {
      fill(this.end.firstElementChild, ending.markNode(), h("b", { class: ending.broken ? "red" : "" }, ending.row), h("span", null, ending.rowTime));
      this.spacer.append(this.end);
    }
  }

  // Where rows are

  #frameOf(place) {
    return this.matching === null ? place : this.matching[place];
  }

  #placeOf(frame) {
    if (this.matching === null) return frame;
    let low = 0;
    let high = this.matching.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.matching[middle] < frame) low = middle + 1;
      else high = middle;
    }
    return this.matching[low] === frame ? low : -1;
  }

  get places() {
    return this.matching === null ? (this.source?.count ?? 0) : this.matching.length;
  }

  /** How many silences stand before the row at `place`; none while filtering. */
  #gapsBefore(place) {
    if (this.matching !== null || !this.source) return 0;
    const { gaps } = this.source;
    let low = 0;
    let high = gaps.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (gaps[middle] <= place) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #top(place) {
    const opened = this.opened && place > this.#placeOf(this.opened.frame) ? this.opened.height : 0;
    return place * ROW + this.#gapsBefore(place) * GAP + opened;
  }

  /** The row at a height. */
  #placeAt(y) {
    let low = 0;
    let high = this.places;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#top(middle) + ROW <= y) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  layout() {
    const end = this.end?.isConnected ? 30 : 0;
    this.height = this.#top(this.places) + end + (this.opened && this.places === 0 ? this.opened.height : 0);
    this.spacer.style.height = `${Math.min(TALLEST, this.height)}px`;
    this.scroller.setAttribute("aria-rowcount", String(this.places));
    this.redraw();
  }

  /** Pixels of rows a pixel of the scroll bar stands for. */
  get scale() {
    const { scrollHeight, clientHeight } = this.scroller;
    return this.height <= TALLEST ? 1 : (this.height - clientHeight) / Math.max(1, scrollHeight - clientHeight);
  }

  draw() {
    if (!this.source || this.scroller.clientHeight === 0) return;
    const { scroller, scale } = this;
    const top = scroller.scrollTop * scale;
    const shift = top - scroller.scrollTop;
    const first = Math.max(0, this.#placeAt(top) - BEYOND);
    const last = Math.min(this.places, this.#placeAt(top + scroller.clientHeight) + BEYOND);
    this.#recycle(first, last);
    for (let place = first; place < last; place += 1) this.#row(place, shift);
    this.#gapRows(first, last, shift);
    this.#place(this.opened?.element, this.opened ? this.#top(this.#placeOf(this.opened.frame)) + ROW - shift : 0);
    this.#place(this.end, this.#top(this.places) - shift);
    this.#failure();
  }

  #place(element, top) {
    if (element) element.style.transform = `translateY(${top}px)`;
  }

  #recycle(first, last) {
    this.free ??= [];
    for (const [frame, row] of this.drawn) {
      const place = this.#placeOf(frame);
      if (place >= first && place < last) continue;
      this.drawn.delete(frame);
      this.free.push(row);
    }
  }

  #row(place, shift) {
    const frame = this.#frameOf(place);
    let row = this.drawn.get(frame);
    if (!row) {
      row = this.free.pop() ?? new FrameRow();
      this.drawn.set(frame, row);
      if (!row.element.isConnected) this.spacer.append(row.element);
      row.element.hidden = false;
    }
    row.show(frame, this.source, { choices: this.model.choices, severities: this.severities, cut: this.cut, at: this.selection.value.at });
    row.element.setAttribute("aria-rowindex", String(place + 1));
    this.#place(row.element, this.#top(place) - shift);
    const { value } = this.selection;
    const isSelected = frame === value.frame;
    const inSpan = value.span !== null && frame >= value.span[0] && frame <= value.span[1];
    row.element.classList.toggle("selected", isSelected);
    row.element.classList.toggle("in-span", inSpan && !isSelected);
    row.element.setAttribute("aria-selected", String(isSelected));
    row.element.id = `frame-${frame}`;
    if (isSelected) this.scroller.setAttribute("aria-activedescendant", row.element.id);
  }

  #gapRows(first, last, shift) {
    for (const row of this.free) row.element.hidden = true;
    const wanted = new Set();
    if (this.matching === null) {
      const { gaps } = this.source;
      for (let k = this.#gapsBefore(first); k < gaps.length && gaps[k] < last; k += 1) wanted.add(gaps[k]);
      const before = this.#gapsBefore(first) - 1;
      if (before >= 0 && gaps[before] === first) wanted.add(first);
    }
    for (const [frame, element] of this.gapsDrawn) {
      if (wanted.has(frame)) continue;
      element.remove();
      this.gapsDrawn.delete(frame);
    }
    for (const frame of wanted) {
      let element = this.gapsDrawn.get(frame);
      if (!element) {
        const [value, unit] = durationParts(this.source.delta(frame), { exact: true });
        element = h("div", { class: "gap-row", role: "presentation" }, t("frames.gap", { time: `${value} ${unit}` }));
        this.gapsDrawn.set(frame, element);
        this.spacer.append(element);
      }
      this.#place(element, this.#top(frame) - GAP - shift);
    }
  }

  #failure() {
    const { failure } = this.source;
    this.problem.hidden = !failure;
    if (!failure) return;
    fill(this.problem, t("frames.failed", { why: failure.message }), h("button", { class: "button", type: "button", onclick: () => this.source.retry() }, t("retry")));
  }

  // Selecting and opening

  /** Shows the selection; scrolls its frame into view unless it was chosen here. */
  mark(scroll) {
    const { frame, opened, at } = this.selection.value;
    this.#follow();
    if (!opened || frame === null) this.close();
    else if (this.opened?.frame !== frame) this.open(frame);
    // At a moment of the past, the frames stand there too.
    if (at !== null && at !== this.stoodAt) this.reveal(at);
    else if (scroll && frame !== null) this.reveal(frame);
    this.stoodAt = at;
    this.redraw();
  }

  reveal(frame) {
    const place = this.#placeOf(frame);
    if (place < 0 || !this.source || frame >= this.source.count) return;
    const { scroller, scale } = this;
    const top = this.#top(place);
    const from = scroller.scrollTop * scale;
    const bottom = top + ROW + (this.opened?.frame === frame ? Math.min(this.opened.height, scroller.clientHeight / 2) : 0);
    if (top >= from && bottom <= from + scroller.clientHeight) return;
    this.following = false;
    scroller.scrollTop = Math.max(0, top - scroller.clientHeight / 3) / scale;
  }

  open(frame) {
    this.close();
    if (!this.source || frame >= this.source.count) return;
    this.opened = new OpenedFrame(this.source, frame, {
      resized: (first) => {
        this.layout();
        // Its lines came only now: they belong to what was asked for.
        if (first) this.reveal(frame);
      },
      ending: frame === this.source.count - 1 && this.model.ending?.broken === true,
    });
    this.spacer.append(this.opened.element);
    this.layout();
  }

  close() {
    if (!this.opened) return;
    this.opened.element.remove();
    this.opened = null;
    this.layout();
  }

  /** Selects the frame `by` rows from the selected one. */
  step(by) {
    if (this.places === 0) return false;
    const { frame } = this.selection.value;
    const at = frame === null ? -1 : this.#placeOf(frame);
    const start = at < 0 ? this.#placeAt(this.scroller.scrollTop * this.scale) - (by > 0 ? by : 0) : at;
    const place = Math.min(this.places - 1, Math.max(0, start + by));
    this.selection.set({ frame: this.#frameOf(place), span: null }, { from: "keys" });
    return true;
  }

  #listen() {
    this.scroller.addEventListener("scroll", () => {
      const { scrollTop, clientHeight, scrollHeight } = this.scroller;
      const atEnd = scrollTop + clientHeight >= scrollHeight - ROW;
      if (atEnd !== this.following) {
        this.following = atEnd;
        if (atEnd) this.behind = 0;
        if (this.model) this.#foot();
      }
      this.draw();
    }, { passive: true });
    new ResizeObserver(this.redraw).observe(this.scroller);
    this.scroller.addEventListener("click", (event) => {
      const row = event.target.closest(".frame");
      if (!row) return;
      const frame = Number(row.dataset.i);
      const again = frame === this.selection.value.frame;
      this.selection.set({ frame, span: null, opened: again ? !this.selection.value.opened : this.selection.value.opened }, { replace: false, from: "frames" });
    });
    this.scroller.addEventListener("dblclick", (event) => {
      const row = event.target.closest(".frame");
      if (row) this.selection.set({ frame: Number(row.dataset.i), opened: true }, { from: "frames" });
    });
    const search = debounce(() => this.#search(), 200);
    this.filter.addEventListener("input", search);
    this.filter.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || !this.filter.value) return;
      event.stopPropagation();
      this.filter.value = "";
      this.#search();
    });
    this.filterAgain = throttle(() => this.#filter(true), 1000);
  }

  #search() {
    this.selection.set({ filter: this.filter.value.trim() }, { scroll: false, from: "frames" });
  }

  /** Filters by what the address says, if that is something else than before. */
  #follow() {
    const { filter } = this.selection.value;
    if (filter === (this.wanted ?? "")) return;
    this.wanted = filter;
    if (document.activeElement !== this.filter) this.filter.value = filter;
    this.#filter();
  }

  /** @param {boolean} [keep] the place where the reader is stays */
  async #filter(keep = false) {
    const { wanted = "" } = this;
    this.asked?.abort();
    this.asked = new AbortController();
    try {
      const found = wanted ? await this.source.matches(wanted, this.asked.signal) : null;
      this.matching = found?.frames ?? null;
      this.more = found?.more ?? false;
    } catch (error) {
      if (error.name === "AbortError") return;
      this.matching = [];
    }
    if (!keep) this.scroller.scrollTop = 0;
    for (const [frame, row] of this.drawn) {
      this.drawn.delete(frame);
      this.free.push(row);
    }
    this.nothing?.remove();
    if (this.matching?.length === 0) {
      this.nothing = h("p", { class: "pane-note" }, t("frames.no-match"));
      this.spacer.append(this.nothing);
    }
    this.#total();
    this.#ending();
    this.layout();
    const { frame } = this.selection.value;
    if (!keep && this.matching === null && frame !== null) this.reveal(frame);
  }
}

/** The worst severity found at each frame. */
function severitiesOf(findings) {
  const order = ["note", "warning", "error"];
  const worst = new Map();
  for (const { frame, severity } of findings) {
    if (frame === null) continue;
    if (order.indexOf(severity) > order.indexOf(worst.get(frame) ?? "note")) worst.set(frame, severity);
  }
  return worst;
}
