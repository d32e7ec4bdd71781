// New text over time, in 40 slots: small enough to be drawn for every row, precise enough to show a silence.

const SVG = "http://www.w3.org/2000/svg";
const SLOTS = 40;
const PITCH = 3;
const HEIGHT = 20;
const BASE = 18;

const make = (name, className) => {
  const element = document.createElementNS(SVG, name);
  element.setAttribute("class", className);
  return element;
};

/** The sparkline of a row. `show` redraws it only where its numbers changed. */
export class Spark {
  constructor() {
    this.element = make("svg", "spark");
    this.element.setAttribute("viewBox", `0 0 ${SLOTS * PITCH + 2} ${HEIGHT}`);
    this.element.setAttribute("preserveAspectRatio", "none");
    this.element.setAttribute("aria-hidden", "true");
    this.base = make("path", "base");
    this.ahead = make("path", "ahead");
    this.bars = make("path", "bars");
    this.end = make("path", "end");
    this.element.append(this.base, this.ahead, this.bars, this.end);
    this.shown = "";
  }

  /**
   * @param {{ slot_ms: number, bytes: number[] } | null} spark
   * @param {string} state the state's mark: `open` goes on, `broken` and `left` have an end of their own
   */
  show(spark, state) {
    const bytes = spark?.bytes ?? [];
    const key = `${state}:${bytes.join()}`;
    if (key === this.shown) return;
    this.shown = key;
    this.element.setAttribute("class", `spark ${state}`);
    const most = Math.max(1, ...bytes);
    let bars = "";
    bytes.forEach((value, i) => {
      if (value > 0) bars += `M${i * PITCH + 1} ${BASE}V${(BASE - Math.max(2, Math.sqrt(value / most) * 15)).toFixed(1)}`;
    });
    const width = bytes.length * PITCH;
    const line = `${BASE + 1}`;
    this.bars.setAttribute("d", bars);
    this.base.setAttribute("d", bytes.length ? `M0 ${line}H${width}` : "");
    this.ahead.setAttribute("d", state === "open" ? `M${width} ${line}H${SLOTS * PITCH}` : "");
    const ends = state === "broken" || state === "interrupted" || state === "left";
    this.end.setAttribute("d", ends && bytes.length ? `M${Math.min(width, SLOTS * PITCH) + 1} ${HEIGHT}V2` : "");
  }
}
