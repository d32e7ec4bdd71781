// The times between frames as a histogram: 26 buckets, each 1.43 times as long as the one before, from 1 ms to 10 s.
import { h, perFrame } from "./dom.js";
import { duration } from "./format.js";
import { KINDS } from "./source.js";
import { t } from "./words.js";

const BUCKETS = 26;
const LEAST = 1;
const MOST = 10_000;
const AXIS = 22;
const KEEP_ALIVE = KINDS.indexOf("keep-alive");

/** The gaps between frames, sorted. Keep-alives do not count. */
export function gapsOf(source) {
  const gaps = [];
  let last = Number.NaN;
  for (let i = 0; i < source.count; i += 1) {
    if (source.kind[i] === KEEP_ALIVE) continue;
    const gap = source.at[i] - last;
    if (gap >= 0) gaps.push(gap);
    last = source.at[i];
  }
  return Float64Array.from(gaps).sort();
}

const bucket = (gap) => {
  const share = Math.log(Math.max(LEAST, gap) / LEAST) / Math.log(MOST / LEAST);
  return Math.min(BUCKETS - 1, Math.floor(share * BUCKETS));
};
const percentile = (sorted, share) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];

export class Gaps {
  constructor() {
    this.canvas = /** @type {HTMLCanvasElement} */ (h("canvas", { class: "gaps-canvas", role: "img" }));
    this.summary = h("span", { class: "gaps-summary" });
    this.element = h("section", { class: "gaps", "aria-label": t("gaps.title") }, h("div", { class: "lane-head" }, h("b", null, t("gaps.title")), h("span", { class: "grow" }), this.summary), this.canvas);
    this.gaps = new Float64Array();
    this.redraw = perFrame(() => this.#draw());
    new ResizeObserver(() => this.redraw()).observe(this.canvas);
    addEventListener("teeline-theme", () => requestAnimationFrame(() => this.redraw()));
  }

  show(source) {
    this.gaps = gapsOf(source);
    if (this.gaps.length > 0) {
      const value = (share) => duration(percentile(this.gaps, share));
      this.summary.textContent = t("gaps.summary", { p50: value(0.5), p95: value(0.95) });
      this.element.title = t("gaps.max", { max: duration(this.gaps.at(-1)) });
    } else {
      this.summary.textContent = "";
      this.element.title = "";
    }
    this.canvas.setAttribute("aria-label", `${t("gaps.title")}. ${this.summary.textContent}. ${this.element.title}`);
    this.redraw();
  }

  #draw() {
    const { canvas } = this;
    const scale = devicePixelRatio || 1;
    const [width, height] = [canvas.clientWidth, canvas.clientHeight];
    if (width === 0) return;
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
    const context = canvas.getContext("2d");
    context.setTransform(scale, 0, 0, scale, 0, 0);
    const style = getComputedStyle(canvas);
    const colour = (name) => style.getPropertyValue(`--${name}`).trim();
    const counts = new Uint32Array(BUCKETS);
    for (const gap of this.gaps) counts[bucket(gap)] += 1;
    const most = Math.max(1, ...counts);
    const base = height - AXIS;
    const pitch = width / BUCKETS;
    counts.forEach((n, i) => {
      if (n === 0) return;
      const tall = Math.max(4, Math.sqrt(n / most) * (base - 6));
      context.fillStyle = colour(i >= bucket(1000) ? "warnf" : "ink3");
      context.fillRect(i * pitch, base - tall, pitch - 1, tall);
    });
    context.fillStyle = colour("line2");
    context.fillRect(0, base, width, 1);
    context.font = `11px ${colour("sans")}`;
    context.fillStyle = colour("ink3");
    const labels = [[1, "1 ms", "left"], [10, "10", "center"], [100, "100", "center"], [1000, "1 s", "center"], [10_000, "10", "right"]];
    for (const [ms, label, align] of labels) {
      context.textAlign = align;
      context.fillText(label, (Math.log10(ms) / 4) * width, height - 6);
    }
  }
}
