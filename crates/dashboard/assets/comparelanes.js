// Two time lanes on one scale, both from the moment the request was sent.
import { h, perFrame } from "./dom.js";
import { endingOf, milestones } from "./ending.js";
import { duration, seconds } from "./format.js";
import { Drawing } from "./lanedraw.js";
import { KINDS } from "./source.js";
import { t } from "./words.js";

const LEGEND = ["text", "reasoning", "tool"];

function lastMoment({ summary, source }) {
  const last = source.count ? source.at[source.count - 1] : 0;
  return Math.max(summary.duration_ms ?? 0, Number.isNaN(last) ? 0 : last);
}

class LaneRow {
  constructor(side) {
    this.side = side;
    this.canvas = /** @type {HTMLCanvasElement} */ (h("canvas", { class: "lane-canvas", role: "img" }));
    this.drawing = new Drawing(this.canvas);
    this.element = h("div", { class: "compare-lane" }, h("span", { class: "side", "aria-hidden": "true" }, side.letter), h("div", { class: "lane-box" }, this.canvas));
    this.canvas.addEventListener("click", (event) => this.#open(event));
  }

  draw(whole) {
    const { side } = this;
    const { summary, reading, moments, source } = side;
    const end = summary.state === "open" ? null : (summary.duration_ms ?? null);
    const ending = endingOf(summary, reading, { end, source, partial: () => "" });
    const marks = milestones({ summary, moments, reading, source, end, ending, now: lastMoment(side) }, [0, whole], this.canvas.clientWidth || 800);
    this.drawing.draw({
      source, end, ending, milestones: marks, findings: reading.findings, choices: 1, from: 0, to: whole, whole,
      zoomed: false, selected: null, scrub: null, marked: null, drag: null,
    });
    const gaps = source.gaps.slice(0, 20).map((i) => t("lane.gap", { time: duration(source.delta(i)), from: seconds(source.at[i - 1]) }));
    this.canvas.setAttribute("aria-label", [`${t("lane.label")} ${side.letter}`, ...marks.map((mark) => mark.label), ...gaps].join(". "));
  }

  /** A click leads to the frame that is nearest. */
  #open(event) {
    const { source, id } = this.side;
    if (source.count === 0 || !source.hasTimes) return;
    const x = event.clientX - this.canvas.getBoundingClientRect().left;
    location.assign(`/captures/${id}?frame=${source.nearest(this.drawing.moment(x))}`);
  }
}

/** The strip; it is drawn again when its width or the theme changes. */
export function lanes(a, b) {
  const rows = [a, b].map((side) => new LaneRow(side));
  const draw = perFrame(() => {
    const ends = [a, b].map(lastMoment);
    const broken = [a, b].some((side) => side.summary.state !== "ended" && side.summary.state !== "open");
    const whole = Math.max(1, ...ends) * (broken ? 1.08 : 1.03);
    for (const row of rows) row.draw(whole);
  });
  const kinds = new Set([a, b].flatMap(({ source }) => [...source.kind.subarray(0, Math.min(source.count, 5000))].map((kind) => KINDS[kind])));
  const legend = LEGEND.filter((name) => kinds.has(name)).map((name) => h("span", null, h("i", { class: `swatch ${name}` }), t(`lane.${name}`)));
  const element = h(
    "section",
    { class: "compare-lanes", "aria-label": t("lane.label") },
    h("div", { class: "lane-head" }, h("b", null, t("lane.time")), h("span", { class: "dim" }, t("compare.one-scale")), h("span", { class: "grow" }), h("span", { class: "legend" }, legend)),
    rows.map((row) => row.element),
  );
  new ResizeObserver(draw).observe(element);
  addEventListener("teeline-theme", () => requestAnimationFrame(draw));
  draw();
  return element;
}
