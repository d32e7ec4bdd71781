// The view of one stream, stored or pasted: head, facts, time lane and three panes that show one selection.
import { Answer } from "./answer.js";
import { fill, h, icon, prose } from "./dom.js";
import { endingOf, milestones } from "./ending.js";
import { Facts, factsOf } from "./facts.js";
import { Findings } from "./findings.js";
import { clockExact, dayKey, day, delta, number, seconds } from "./format.js";
import { FrameTable } from "./frames.js";
import { Gaps } from "./gaps.js";
import { member } from "./json.js";
import { Lane } from "./lane.js";
import { countFindings, findingCounts, stateMark } from "./marks.js";
import { headersPane, requestPane, responsePane, usagePane } from "./panes.js";
import { Provenance } from "./provenance.js";
import { Selection } from "./selection.js";
import { openMenu } from "./shell.js";
import { verdict } from "./verdict.js";
import { carriedOf, t } from "./words.js";

const WIDE = matchMedia("(min-width: 1200px)");
const NARROW = matchMedia("(max-width: 899px)");

/**
 * @typedef {{ summary: any, request: any, response: any, reading: any, moments: any, ending: any,
 *   readingText: () => string | null, source: any }} Model `summary` and what goes with it are `null` for a pasted
 *   stream; `readingText` gives the reading as it came, numbers untouched
 */

export class View {
  /**
   * @param {HTMLElement} root
   * @param {{ tabs: string[], actions: HTMLElement[] }} options
   */
  constructor(root, { tabs, actions }) {
    this.root = root;
    this.tabs = tabs;
    this.selection = new Selection();
    this.provenance = new Provenance();
    this.answer = new Answer(this.selection, this.provenance);
    this.frames = new FrameTable(this.selection);
    this.findings = new Findings(this.selection);
    this.lane = new Lane(this.selection);
    this.gaps = new Gaps();
    this.facts = new Facts((frame) => this.selection.set({ frame, span: null }, { from: "facts" }));
    this.mark = h("span", { class: "head-mark" });
    this.sentence = h("h1", { class: "verdict" });
    this.meta = h("div", { class: "meta" });
    this.noTimes = h("p", { class: "lane-none", hidden: true }, t("lane.none"));
    this.tabBar = h("div", { class: "pane-head tabs", role: "tablist", "aria-label": t("tab.answer") });
    this.body = h("div", { class: "tab-body", role: "tabpanel", tabindex: "0" });
    this.frameBar = h("div", { class: "frame-bar", hidden: true });
    this.gapsToggle = h("button", { class: "link gaps-toggle", type: "button", "aria-expanded": "false", onclick: () => this.#toggleGaps() }, t("gaps.title"));
    this.laneRow = h("div", { class: "lane-row" }, this.lane.element, this.gapsToggle, this.gaps.element);
    fill(
      root,
      h("div", { class: "head" }, this.mark, h("div", { class: "head-words" }, this.sentence, this.meta), h("div", { class: "actions" }, actions)),
      this.facts.element,
      this.laneRow,
      this.noTimes,
      h("div", { class: "panes" }, this.tabBar, this.body, this.frames.element, this.findings.element),
      this.frameBar,
    );
    this.model = null;
    /** Told which keys do something whenever that may have changed. @type {((now: Record<string, boolean>) => void) | null} */
    this.onHints = null;
    this.frames.onRows = () => this.model && this.#frameBar(this.selection.value.frame);
    this.selection.onChange((value, how) => this.#selected(value, how));
    for (const query of [WIDE, NARROW]) query.addEventListener("change", () => this.#tabs());
  }

  #toggleGaps() {
    const shown = this.laneRow.classList.toggle("show-gaps");
    this.gapsToggle.setAttribute("aria-expanded", String(shown));
    this.gaps.redraw();
  }

  get open() {
    return this.model?.summary?.state === "open";
  }

  /** Milliseconds since the request was sent, by this browser's clock. */
  now() {
    return Math.max(0, Date.now() - new Date(this.model.summary.started_at).getTime());
  }

  /** Where the stream ended, in milliseconds; `null` while it is open or where no time is known. */
  get end() {
    const { summary, reading } = this.model;
    if (this.open) return null;
    return summary?.duration_ms ?? reading.timing?.last_byte_ms ?? null;
  }

  /**
   * Shows a stream, or its newer state.
   * @param {Model} model
   */
  show(model) {
    const first = this.model === null;
    this.model = model;
    this.stale = true;
    this.root.classList.add("loaded");
    this.root.classList.toggle("is-open", this.open);
    this.ending = endingOf(model.summary, model.reading, { end: this.end, source: model.source, partial: () => this.answer.text() });
    this.#head();
    this.#lane();
    this.#tabs();
    const { reading, source } = model;
    const shared = { reading, source, open: this.open, ending: this.ending };
    this.answer.show(shared);
    this.frames.show(shared);
    this.findings.show(shared);
    this.#hints();
    if (first) this.#openFindings();
    if (first) requestAnimationFrame(() => this.#selected(this.selection.value, { scroll: true }));
  }

  /** Says which keys do something now. */
  #hints() {
    const { reading, source } = this.model;
    this.onHints?.({ rows: source.count > 0, findings: reading.findings.length > 0, scrubbed: this.selection.value.at !== null, follows: this.open });
  }

  /** Writes what goes on by itself while a stream is open. */
  tick() {
    if (!this.open) return;
    this.#head();
    this.lane.redraw();
  }

  #head() {
    const { summary, reading, ending } = this.model;
    if (this.heardFrames !== reading.counts.frames) {
      this.heardFrames = reading.counts.frames;
      this.heardAt = performance.now();
    }
    // A silence is only claimed where nothing was heard either: this page may be behind.
    const newest = reading.timing?.last_byte_ms ?? Number.NaN;
    const silent = this.open && !Number.isNaN(newest) && performance.now() - this.heardAt > 900;
    const quiet = silent ? this.now() - newest : 0;
    const words = verdict({ summary, reading, ending, counts: countFindings(reading.findings), quiet });
    const key = JSON.stringify(words);
    if (this.sentence.dataset.key !== key) {
      this.sentence.dataset.key = key;
      fill(this.mark, stateMark(words.mark));
      fill(this.sentence, h("b", { class: words.mark }, words.lead), " ", words.pieces.map((piece) => h("span", { class: piece.tone ?? "" }, prose(piece.text))));
    }
    this.#meta();
    this.facts.show(factsOf(this.model));
  }

  #meta() {
    const { summary, reading } = this.model;
    const parts = [];
    if (summary) {
      const status = summary.status;
      if (!summary.method && !summary.path) parts.push(summary.upstream);
      else parts.push(h("span", { class: "mono" }, h("b", null, summary.method), " ", summary.path.replace(/^\//, "")));
      if (status !== null) parts.push(h("span", { class: "status" }, h("span", { class: `chip ${status >= 400 ? "red" : ""}` }, status)));
      parts.push(summary.model, summary.format ?? reading.format, summary.choices > 1 && h("span", { class: "mono" }, `n=${summary.choices}`), startTime(summary));
    } else {
      parts.push(reading.format, reading.framing, reading.model, t("verdict.whole-frames", { n: number(reading.counts.frames) }), reading.timing && t("verdict.stamped"));
    }
    const shown = parts.filter(Boolean);
    const key = shown.map((part) => part.textContent ?? part).join("|");
    if (this.meta.dataset.key === key) return;
    this.meta.dataset.key = key;
    fill(this.meta, shown.map((part) => (part.className === "status" ? part : h("span", null, part))));
  }

  #lane() {
    const { source, reading, summary } = this.model;
    const without = !this.open && summary === null && !source.hasTimes;
    this.laneRow.hidden = without;
    this.noTimes.hidden = !without;
    if (without) return;
    const describe = () => milestones({ ...this.model, end: this.end, ending: this.ending, now: summary ? this.now() : 0 }, this.lane.span(), this.lane.canvas.clientWidth || 800);
    const choices = reading.outputs.length;
    this.lane.show({
      source,
      end: this.end,
      open: this.open,
      get milestones() {
        return describe();
      },
      ending: this.ending,
      findings: reading.findings,
      choices,
      bandLabels: reading.outputs.map((output) => t("lane.choice", { n: output.index })),
      now: () => (summary ? this.now() : 0),
    });
    if (!this.open || !this.gaps.gaps.length || performance.now() - this.lastGaps > 1000) {
      this.lastGaps = performance.now();
      this.gaps.show(source);
    }
  }

  /** New provenance came: times and marks can be written. */
  traced() {
    this.answer.times();
    this.#lane();
    // What the address selects can be scrolled to now that it is here.
    if (!this.revealed && this.model.source.count > 0) {
      this.revealed = true;
      this.#selected(this.selection.value, { scroll: true });
    }
  }

  // Tabs

  /** Where the findings have no pane of their own, they are shown first on load if something is wrong. */
  #openFindings() {
    const { error, warning } = countFindings(this.model.reading.findings);
    const asked = new URLSearchParams(location.search).size > 0;
    if (!asked && !this.open && error + warning > 0 && !WIDE.matches && !NARROW.matches) this.selection.set({ tab: "findings" });
  }

  #shownTab() {
    const { tab } = this.selection.value;
    if (NARROW.matches) return tab;
    if (tab === "frames" || (tab === "findings" && WIDE.matches)) return "answer";
    return tab;
  }

  #tabs() {
    const shown = this.#shownTab();
    const narrow = NARROW.matches;
    const beside = narrow ? ["answer", "frames", "findings"] : WIDE.matches ? this.tabs : ["findings", ...this.tabs];
    const counts = { frames: number(this.model?.source.count ?? 0) };
    const key = JSON.stringify([shown, beside, narrow && counts, this.model?.reading.findings.length]);
    if (this.tabBar.dataset.key !== key) {
      this.tabBar.dataset.key = key;
      fill(this.tabBar, beside.map((name) => this.#tab(name, shown, counts)), narrow && this.#moreTab(shown));
    }
    this.root.dataset.tab = shown;
    this.#pane(shown);
  }

  #tab(name, shown, counts) {
    const place = this.tabs.indexOf(name);
    const note = name === "findings" ? findingCounts(countFindings(this.model?.reading.findings ?? [])) : NARROW.matches ? counts[name] : place + 1;
    return h("button", { type: "button", role: "tab", "aria-selected": String(name === shown), onclick: () => this.selection.set({ tab: name }, { replace: false }) }, t(`tab.${name}`), note && h("span", { class: "dim" }, note));
  }

  #moreTab(shown) {
    const rest = this.tabs.filter((name) => name !== "answer");
    const button = h("button", { type: "button", role: "tab", "aria-selected": String(rest.includes(shown)), "aria-haspopup": "menu", "aria-expanded": "false" }, rest.includes(shown) ? t(`tab.${shown}`) : t("tab.more"), icon("down"));
    button.addEventListener("click", () => openMenu(button, rest.map((name) => ({ label: t(`tab.${name}`), run: () => this.selection.set({ tab: name }, { replace: false }) }))));
    return button;
  }

  #pane(shown) {
    if (!this.model) return;
    if (shown === "answer") {
      if (this.body.firstChild !== this.answer.element) fill(this.body, this.answer.element);
      this.pane = "answer";
      return;
    }
    const { request, reading } = this.model;
    // The request and its headers do not change; the others are made again when the reading did.
    const changes = shown === "response" || shown === "usage" || shown === "headers";
    if (this.pane === shown && !(changes && this.stale)) return;
    this.stale = false;
    this.pane = shown;
    const source = (...path) => {
      const text = this.model.readingText();
      return text === null ? null : member(text, path);
    };
    const scroll = this.body.scrollTop;
    if (shown === "response") fill(this.body, responsePane(source("response"), this.open));
    else if (shown === "request" && request) fill(this.body, requestPane(request));
    else if (shown === "headers" && request) fill(this.body, headersPane(this.model));
    else if (shown === "usage") fill(this.body, usagePane(reading.usage, source("usage", "raw"), this.open));
    else fill(this.body);
    this.body.scrollTop = scroll;
  }

  /** The n-th tab, from 1. */
  tab(n) {
    const name = this.tabs[n - 1];
    if (!name) return false;
    this.selection.set({ tab: name }, { replace: false });
    return true;
  }

  // The selection

  #selected(value, how) {
    if (!this.model) return;
    this.#tabs();
    if (how.from === "address") this.lane.restore();
    else this.lane.reveal(value.frame);
    this.#hints();
    this.lane.redraw();
    this.answer.mark();
    this.frames.mark(how.scroll !== false && how.from !== "frames");
    this.findings.mark(how.scroll !== false && how.from !== "findings");
    if (how.scroll !== false && how.from !== "answer") this.answer.reveal();
    this.#frameBar(value.frame);
  }

  #frameBar(frame) {
    const { source } = this.model;
    this.frameBar.hidden = frame === null || frame >= source.count;
    if (this.frameBar.hidden) return;
    const since = source.delta(frame);
    fill(
      this.frameBar,
      h("span", { class: "frame-link" }, `#${number(frame)}`),
      source.hasTimes && h("span", { class: "mono" }, `${seconds(source.at[frame])} s`),
      !Number.isNaN(since) && h("span", { class: "mono dim" }, delta(since)),
      h("span", { class: "mono what" }, carriedOf(source.row(frame)?.carried ?? "")),
      h("span", { class: "grow" }),
      h("button", { class: "link", type: "button", onclick: () => this.selection.set({ tab: "frames", opened: true }, { replace: false }) }, t("frames.open")),
      h("button", { class: "icon-button", type: "button", "aria-label": t("close"), onclick: () => this.selection.set({ frame: null, span: null }) }, icon("close")),
    );
  }

  /** Shows the answer as it stood one frame earlier or later. */
  step(by) {
    const { source } = this.model;
    if (source.count === 0) return false;
    const { at, frame } = this.selection.value;
    const next = Math.min(source.count - 1, Math.max(0, (at ?? frame ?? source.count - 1) + by));
    this.selection.set({ at: next, frame: next, span: null }, { from: "keys" });
    return true;
  }

  /** Selects the frame after the next silence, or the previous one. */
  gap(by) {
    const { source } = this.model;
    const frame = this.selection.value.frame ?? (by > 0 ? -1 : source.count);
    const gap = by > 0 ? source.gaps.find((i) => i > frame) : source.gaps.findLast((i) => i < frame);
    if (gap === undefined) return false;
    this.selection.set({ frame: gap, span: null }, { from: "keys" });
    return true;
  }

  /** What Escape closes first: the past, the opened frame, the selection. False when there is nothing of it. */
  back() {
    const { at, opened, frame, span, finding } = this.selection.value;
    if (at !== null) this.selection.set({ at: null });
    else if (opened) this.selection.set({ opened: false });
    else if (span !== null) this.selection.set({ span: null });
    else if (frame !== null || finding !== null) this.selection.set({ frame: null, finding: null });
    else return false;
    return true;
  }

  /** The keys that both pages have. */
  keys() {
    return {
      rows: (which) => this.frames.step(which === 0 ? 1 : -1),
      frame: (which) => this.frames.step(which === 0 ? -1 : 1),
      gap: (which) => this.gap(which === 0 ? -1 : 1),
      tab: (n) => this.tab(n),
      filter: () => {
        if (NARROW.matches) this.selection.set({ tab: "frames" });
        this.frames.filter.focus();
      },
      "open-frame": () => (this.selection.value.frame === null ? false : this.selection.set({ opened: !this.selection.value.opened })),
      enter: () => (this.selection.value.frame === null ? false : this.selection.set({ opened: !this.selection.value.opened })),
      findings: (which) => {
        if (!WIDE.matches) this.selection.set({ tab: "findings" });
        return this.findings.step(which === 0 ? -1 : 1);
      },
      step: (which) => this.step(which === 0 ? -1 : 1),
      zoom: (which) => this.lane.zoom(which === 0 ? 0.5 : 2),
      whole: () => this.lane.fit(),
    };
  }
}

function startTime(summary) {
  const date = new Date(summary.started_at);
  const time = clockExact(date);
  return dayKey(date) === dayKey(new Date()) ? t("capture.today", { time }) : `${day(date)} ${time}`;
}
