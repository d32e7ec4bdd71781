// The time lane: the whole stream on one canvas. What is drawn where is in lanedraw.js; this is the view of it:
// which span is shown, what the pointer does, the words for screen readers.
import { fill, h, icon, perFrame } from "./dom.js";
import { duration, durationParts, seconds } from "./format.js";
import { Drawing } from "./lanedraw.js";
import { KINDS } from "./source.js";
import { carriedOf, t } from "./words.js";

/** The window of a live stream: it doubles when it is full, so the scale changes rarely. */
const FIRST_WINDOW = 5000;
const NEAR = 8;
const LEGEND = ["text", "reasoning", "tool", "control", "keep-alive"];
const KEEP_ALIVE = KINDS.indexOf("keep-alive");

export class Lane {
  /** @param {import("./selection.js").Selection} selection */
  constructor(selection) {
    this.selection = selection;
    this.canvas = /** @type {HTMLCanvasElement} */ (h("canvas", { class: "lane-canvas", tabindex: "0", role: "img" }));
    this.tip = h("div", { class: "lane-tip", hidden: true });
    this.legend = h("span", { class: "legend" });
    this.info = h("span", { class: "lane-info" });
    const button = (name, label, run) =>
      h("button", { class: "icon-button tight", type: "button", title: t(label), "aria-label": t(label), onclick: run }, icon(name));
    this.element = h(
      "section",
      { class: "lane", "aria-label": t("lane.label") },
      h("div", { class: "lane-head" }, h("b", null, t("lane.time")), this.legend, h("span", { class: "grow" }), this.info, button("zoom", "lane.zoom", () => this.zoom(0.5)), button("fit", "lane.fit", () => this.fit())),
      h("div", { class: "lane-box" }, this.canvas, this.tip),
    );
    /** @type {[number, number] | null} what is shown, in milliseconds; `null`: all */
    this.view = selection.value.zoom;
    this.model = null;
    this.drawing = new Drawing(this.canvas);
    this.redraw = perFrame(() => this.#draw());
    new ResizeObserver(() => this.redraw()).observe(this.canvas);
    addEventListener("teeline-theme", () => requestAnimationFrame(() => this.redraw()));
    this.#listen();
  }

  /**
   * @param {{ source: any, end: number | null, open: boolean, milestones: any[], ending: any, findings: any[], choices: number, now: () => number }} model
   *   times in milliseconds since the request was sent
   */
  show(model) {
    this.model = model;
    this.#legend();
    this.redraw();
  }

  /** The end of what can be shown. */
  #whole() {
    const { source, open, end, now } = this.model;
    const last = source.count ? source.at[source.count - 1] : 0;
    if (open) {
      const elapsed = Math.max(now(), last);
      let window = FIRST_WINDOW;
      while (window < elapsed) window *= 2;
      return window;
    }
    const whole = Math.max(end ?? 0, last, 1);
    return this.model.ending?.broken ? whole * 1.12 : whole * 1.012;
  }

  span() {
    return this.view ?? [0, this.#whole()];
  }

  #draw() {
    if (!this.model) return;
    const { value } = this.selection;
    const [from, to] = this.span();
    this.element.classList.toggle("bands", this.model.choices > 1);
    this.element.style.setProperty("--bands", String(Math.min(4, Math.max(2, this.model.choices))));
    this.drawing.draw({ ...this.model, from, to, zoomed: this.view !== null, whole: this.#whole(), selected: value.frame, scrub: value.at, marked: value.span, drag: this.drag });
    this.#info(value);
    this.canvas.setAttribute("aria-label", this.#words());
  }

  #info(value) {
    const { open } = this.model;
    const [from, to] = this.span();
    if (value.at !== null) fill(this.info, h("span", { class: "stood" }, t("lane.stood", { frame: value.at })));
    else if (this.view) fill(this.info, t("lane.span", { from: seconds(from), to: seconds(to) }));
    else if (open) fill(this.info, h("span", { class: "live" }, t("lane.live")), " ", t("lane.window", { s: (to - from) / 1000 }));
    else fill(this.info, t("lane.whole", { time: duration(this.model.end ?? 0, { exact: true }) }));
  }

  #legend() {
    const { source } = this.model;
    const kinds = new Set(source.kind.subarray(0, Math.min(source.count, 5000)));
    const has = {
      text: kinds.has(1) || kinds.has(3),
      reasoning: kinds.has(2),
      tool: kinds.has(4),
      control: kinds.size > 0,
      "keep-alive": kinds.has(KEEP_ALIVE),
    };
    const shown = LEGEND.filter((name) => has[name]);
    if (this.legend.dataset.shown === shown.join()) return;
    this.legend.dataset.shown = shown.join();
    fill(this.legend, shown.map((name) => h("span", null, h("i", { class: `swatch ${name}` }), t(`lane.${name}`))));
  }

  #words() {
    const { milestones, source } = this.model;
    const marks = milestones.map((mark) => mark.label);
    const gaps = source.gaps.slice(0, 20).map((i) => t("lane.gap", { time: duration(source.delta(i)), from: seconds(source.at[i - 1]) }));
    return [t("lane.label"), ...marks, ...gaps].join(". ");
  }

  // Zooming

  /** Shows `factor` of what is shown, around `center` (a moment; the selected frame or the middle if left out). */
  zoom(factor, center) {
    const whole = this.#whole();
    const [from, to] = this.span();
    const { frame } = this.selection.value;
    const middle = center ?? (frame !== null ? this.model.source.at[frame] : (from + to) / 2);
    const width = Math.max(5, (to - from) * factor);
    if (width >= whole) return this.fit();
    const share = (middle - from) / (to - from);
    const start = Math.min(Math.max(0, middle - width * share), whole - width);
    this.#look([start, start + width]);
  }

  fit() {
    this.#look(null);
  }

  /** Shows a part, and writes it into the address. */
  #look(view) {
    this.view = view;
    this.selection.note({ zoom: view && [Math.floor(view[0]), Math.ceil(view[1])] });
    this.redraw();
  }

  /** Takes what is shown from the address again. */
  restore() {
    this.view = this.selection.value.zoom;
  }

  /** Moves what is shown so that a frame is in it. */
  reveal(frame) {
    if (!this.view || frame === null) return;
    const at = this.model.source.at[frame];
    const [from, to] = this.view;
    if (at >= from && at <= to) return;
    const start = Math.max(0, at - (to - from) / 2);
    this.#look([start, start + (to - from)]);
  }

  // The pointer

  #listen() {
    const { canvas } = this;
    const moment = (event) => this.drawing.moment(event.clientX - canvas.getBoundingClientRect().left);
    let start = null;
    canvas.addEventListener("pointerdown", (event) => {
      if (event.button !== 0 || !this.model?.source.count) return;
      canvas.setPointerCapture(event.pointerId);
      const y = event.clientY - canvas.getBoundingClientRect().top;
      start = { x: event.clientX, moment: moment(event), scrub: y > this.drawing.axisY() };
      if (start.scrub) this.#scrub(moment(event));
    });
    canvas.addEventListener("pointermove", (event) => {
      if (!this.model) return;
      if (!start) return this.#hover(event);
      if (start.scrub) return this.#scrub(moment(event));
      if (Math.abs(event.clientX - start.x) > 4) {
        this.drag = [Math.min(start.moment, moment(event)), Math.max(start.moment, moment(event))];
        this.redraw();
      }
    });
    canvas.addEventListener("pointerup", (event) => {
      if (!start) return;
      if (this.drag) this.#selectSpan(this.drag);
      else if (!start.scrub) this.#click(event);
      start = null;
      this.drag = null;
      this.redraw();
    });
    canvas.addEventListener("pointercancel", () => {
      start = null;
      this.drag = null;
      this.redraw();
    });
    canvas.addEventListener("pointerleave", () => (this.tip.hidden = true));
    canvas.addEventListener("dblclick", () => this.fit());
    canvas.addEventListener("wheel", (event) => {
      if (!this.model || (event.deltaY === 0 && event.deltaX === 0)) return;
      event.preventDefault();
      if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) this.#pan(event.deltaX);
      else this.zoom(event.deltaY > 0 ? 1.25 : 0.8, moment(event));
    }, { passive: false });
  }

  #pan(pixels) {
    if (!this.view) return;
    const [from, to] = this.view;
    const by = (pixels / this.canvas.clientWidth) * (to - from);
    const start = Math.min(Math.max(0, from + by), this.#whole() - (to - from));
    this.#look([start, start + to - from]);
  }

  #scrub(ms) {
    this.selection.set({ at: this.model.source.nearest(ms), span: null }, { from: "lane" });
  }

  #click(event) {
    const box = this.canvas.getBoundingClientRect();
    const flag = this.drawing.flagAt(event.clientX - box.left, event.clientY - box.top);
    if (flag !== null) {
      const { frame } = this.model.findings[flag];
      this.selection.set({ finding: flag, frame, span: null }, { replace: false });
      return;
    }
    const frame = this.#frameUnder(event);
    if (frame !== null) this.selection.set({ frame, span: null }, { replace: false, from: "lane" });
  }

  #frameUnder(event) {
    const { source } = this.model;
    if (source.count === 0 || !source.hasTimes) return null;
    const x = event.clientX - this.canvas.getBoundingClientRect().left;
    const frame = source.nearest(this.drawing.moment(x));
    return Math.abs(this.drawing.x(source.at[frame]) - x) <= NEAR ? frame : null;
  }

  #selectSpan([from, to]) {
    const { source } = this.model;
    const first = source.frameAt(from);
    const last = source.frameAt(to) - 1;
    if (first <= last) this.selection.set({ span: [first, last], frame: first }, { replace: false });
  }

  #hover(event) {
    const { source } = this.model;
    const frame = this.#frameUnder(event);
    this.tip.hidden = frame === null;
    this.canvas.classList.toggle("over", frame !== null);
    if (frame === null) return;
    const n = this.drawing.framesNear(frame);
    const words = n > 1 ? t("lane.frames-here", { n }) : carriedOf(source.row(frame)?.carried ?? "");
    fill(this.tip, h("b", null, n > 1 ? "" : `#${frame} `), `${seconds(source.at[frame])} s`, words && ` · ${words}`);
    const x = this.drawing.x(source.at[frame]);
    this.tip.style.left = `${Math.min(Math.max(4, x + 8), this.canvas.clientWidth - this.tip.offsetWidth - 4)}px`;
  }
}

/** The label of a milestone with its time in seconds. */
export const milestoneTime = (ms) => {
  const [value, unit] = durationParts(ms, { exact: true });
  return unit === "ms" ? `${(ms / 1000).toFixed(2)} s` : `${value} ${unit}`;
};
