// Draws the time lane. From the top: flags 14, milestone labels 14, ticks, axis 22. Device-pixel sharp.
import { FLAGS, LABELS, drawFlags, drawMilestones, drawPointer, drawScrubber } from "./lanemarks.js";
import { KINDS, NO_OUTPUT } from "./source.js";

const AXIS = 22;
const TICK = 1.8;
const SHORT = 6;
const KEEP_ALIVE = KINDS.indexOf("keep-alive");
const COLOURS = { text: "ink2", refusal: "ink2", reasoning: "think", tool: "tool" };
const TOKENS = ["ink", "ink2", "ink3", "line", "line2", "surface", "accent", "accentw", "accentm", "onaccent", "warn", "warnw", "err", "live", "think", "tool", "warnf"];

/** Steps of the axis, in milliseconds. */
const STEPS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 30_000, 60_000, 120_000, 300_000, 600_000, 1_800_000, 3_600_000];

export class Drawing {
  /** @param {HTMLCanvasElement} canvas */
  constructor(canvas) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d");
    this.flags = [];
    this.scene = { from: 0, to: 1, source: null };
  }

  axisY() {
    return this.height - AXIS;
  }

  x(ms) {
    const { from, to } = this.scene;
    return ((ms - from) / (to - from)) * this.width;
  }

  moment(x) {
    const { from, to } = this.scene;
    return from + (x / this.width) * (to - from);
  }

  /** How many frames share the pixel of a frame. */
  framesNear(frame) {
    const { source } = this.scene;
    const pixel = Math.floor(this.x(source.at[frame]));
    let n = 1;
    for (let i = frame - 1; i >= 0 && Math.floor(this.x(source.at[i])) === pixel; i -= 1) n += 1;
    for (let i = frame + 1; i < source.count && Math.floor(this.x(source.at[i])) === pixel; i += 1) n += 1;
    return n;
  }

  flagAt(x, y) {
    if (y > FLAGS + 4) return null;
    return this.flags.find((flag) => Math.abs(flag.x - x) < 9)?.index ?? null;
  }

  #size() {
    const { canvas } = this;
    const scale = devicePixelRatio || 1;
    this.width = canvas.clientWidth;
    this.height = canvas.clientHeight;
    const [w, height] = [Math.round(this.width * scale), Math.round(this.height * scale)];
    if (canvas.width !== w || canvas.height !== height) {
      canvas.width = w;
      canvas.height = height;
    }
    this.context.setTransform(scale, 0, 0, scale, 0, 0);
    this.context.clearRect(0, 0, this.width, this.height);
  }

  #colours() {
    const style = getComputedStyle(this.canvas);
    this.colour = {};
    for (const name of TOKENS) this.colour[name] = style.getPropertyValue(`--${name}`).trim();
    this.font = `11px ${style.getPropertyValue("--sans")}`;
  }

  /** @param {any} scene what lane.js gives */
  draw(scene) {
    this.scene = scene;
    this.#size();
    if (this.width === 0) return;
    this.#colours();
    this.context.font = this.font;
    this.context.textBaseline = "alphabetic";
    this.#marked();
    this.#gaps();
    this.#after();
    this.#axis();
    this.#ticks();
    this.#selectedTick();
    drawMilestones(this);
    this.flags = drawFlags(this);
    drawScrubber(this);
    this.#overview();
  }

  /** Ticks are many and seldom change: they are drawn once on a canvas of their own, which is then copied. */
  #ticks() {
    const { source, from, to, scrub, choices } = this.scene;
    if (!source.hasTimes) return;
    const key = [source.count, from, to, choices, this.canvas.width, this.canvas.height, this.colour.ink2].join();
    if (this.layerKey !== key || this.layerSource !== source) {
      this.layerKey = key;
      this.layerSource = source;
      this.layer ??= document.createElement("canvas");
      this.layer.width = this.canvas.width;
      this.layer.height = this.canvas.height;
      const layer = this.layer.getContext("2d");
      layer.setTransform(this.context.getTransform());
      this.#drawTicks(layer);
    }
    const { context } = this;
    const split = scrub === null ? this.width : Math.min(this.width, Math.max(0, this.x(source.at[scrub]) + TICK));
    const copy = (left, right, alpha) => {
      if (right <= left) return;
      context.save();
      context.globalAlpha = alpha;
      context.beginPath();
      context.rect(left, 0, right - left, this.height);
      context.clip();
      context.drawImage(this.layer, 0, 0, this.width, this.height);
      context.restore();
    };
    copy(0, split, 1);
    copy(split, this.width, 0.34);
    if (choices > 1) this.#bandLabels(this.bands());
  }

  line(x, top, bottom, colour, { width = 1, dash = [] } = {}) {
    const { context } = this;
    const at = width % 2 === 1 ? Math.round(x) + 0.5 : x;
    context.strokeStyle = colour;
    context.lineWidth = width;
    context.setLineDash(dash);
    context.beginPath();
    context.moveTo(at, top);
    context.lineTo(at, bottom);
    context.stroke();
    context.setLineDash([]);
  }

  #rect(from, to, top, bottom, colour) {
    const left = Math.max(0, from);
    const right = Math.min(this.width, to);
    if (right <= left) return;
    this.context.fillStyle = colour;
    this.context.fillRect(left, top, right - left, bottom - top);
  }

  /** A span that is selected or being dragged. */
  #marked() {
    const { marked, drag, source } = this.scene;
    const span = drag ?? (marked && marked[1] < source.count ? [source.at[marked[0]], source.at[marked[1]]] : null);
    if (span) this.#rect(this.x(span[0]) - 2, this.x(span[1]) + 2, FLAGS + LABELS, this.axisY(), this.colour.accentw);
  }

  /** Silences of a second and more; keep-alives do not end one. */
  #gaps() {
    const { context } = this;
    const { source } = this.scene;
    for (const [last, at] of source.silences) {
      const [from, to] = [this.x(last) + 2, this.x(at) - 2];
      if (to < 0 || from > this.width) continue;
      this.#rect(from, to, FLAGS + LABELS, this.axisY(), this.colour.warnw);
      if (Math.min(to, this.width) - Math.max(from, 0) >= 64) {
        context.fillStyle = this.colour.warn;
        context.textAlign = "center";
        context.fillText(`${((at - last) / 1000).toFixed(2)} s`, (Math.max(from, 0) + Math.min(to, this.width)) / 2, (FLAGS + LABELS + this.axisY()) / 2 + 4);
      }
    }
  }

  /** Nothing came any more: hatched after a broken end. */
  #after() {
    const { context } = this;
    const { ending, end } = this.scene;
    if (!ending?.broken || end === null) return;
    const from = this.x(end);
    if (from > this.width) return;
    context.save();
    context.beginPath();
    context.rect(from, FLAGS + LABELS, this.width - from, this.axisY() - FLAGS - LABELS);
    context.clip();
    context.strokeStyle = this.colour.line2;
    context.lineWidth = 1;
    context.beginPath();
    for (let x = from - this.height; x < this.width; x += 7) {
      context.moveTo(x, this.axisY());
      context.lineTo(x + this.height, this.axisY() - this.height);
    }
    context.stroke();
    context.restore();
  }

  #axis() {
    const { context } = this;
    const { from, to } = this.scene;
    const y = this.axisY();
    context.strokeStyle = this.colour.line2;
    context.lineWidth = 1;
    context.beginPath();
    context.moveTo(0, y + 0.5);
    context.lineTo(this.width, y + 0.5);
    context.stroke();
    const step = STEPS.find((one) => (one / (to - from)) * this.width >= 62) ?? STEPS.at(-1);
    const digits = step >= 1000 ? 0 : step >= 100 ? 1 : step >= 10 ? 2 : 3;
    context.fillStyle = this.colour.ink3;
    for (let at = Math.ceil(from / step) * step; at <= to; at += step) {
      const x = this.x(at);
      if (at > 0) this.line(x, y, y + 4, this.colour.line2);
      const label = at === 0 ? "0 s" : String(Number((at / 1000).toFixed(digits)));
      if (x + 20 > this.width && at > 0) break;
      context.textAlign = x < 8 ? "left" : "center";
      context.fillText(label, x, y + 16);
    }
  }

  /** The rows of ticks: one for a single answer, one a choice, at most four. */
  bands() {
    const { choices } = this.scene;
    const n = choices > 1 ? Math.min(4, choices) : 1;
    const top = FLAGS + LABELS;
    const height = (this.axisY() - top) / n;
    return Array.from({ length: n }, (_, i) => ({ top: top + i * height, bottom: top + (i + 1) * height }));
  }

  #drawTicks(context) {
    const { source, from, to } = this.scene;
    const bands = this.bands();
    const first = Math.max(0, source.frameAt(from) - 1);
    const last = Math.min(source.count, source.frameAt(to) + 1);
    const most = this.#most(source);
    for (const column of this.#columns(first, last)) {
      const kind = KINDS[column.kind];
      if (kind === "keep-alive") {
        context.globalAlpha = 1;
        context.fillStyle = this.colour.ink3;
        context.fillRect(column.x - TICK / 2, this.axisY() + 1, TICK, 5);
        continue;
      }
      const band = bands[Math.min(bands.length - 1, column.output === NO_OUTPUT ? bands.length - 1 : column.output)];
      const colour = column.added > 0 ? COLOURS[kind] : undefined;
      const room = band.bottom - band.top - 6;
      const height = colour ? Math.max(4, Math.sqrt(column.added / most) * room) : SHORT;
      context.globalAlpha = colour ? 1 : 0.75;
      context.fillStyle = this.colour[colour ?? "ink3"];
      context.fillRect(column.x - TICK / 2, band.bottom - height, TICK, height);
    }
  }

  /** The most new text that one frame has; only frames that came since are looked at. */
  #most(source) {
    if (this.mostOf?.source !== source) this.mostOf = { source, count: 0, most: 1 };
    const known = this.mostOf;
    for (; known.count < source.count; known.count += 1) known.most = Math.max(known.most, source.added[known.count]);
    return known.most;
  }

  /**
   * One column a frame, or one a pixel where frames are closer than that: as high as its largest frame, in the
   * colour of the kind with most bytes.
   */
  #columns(first, last) {
    const { source } = this.scene;
    const dense = last - first > this.width / 2;
    const columns = [];
    const pixels = new Map();
    for (let i = first; i < last; i += 1) {
      const x = this.x(source.at[i]);
      const [kind, output, added] = [source.kind[i], source.output[i], source.added[i]];
      if (!dense) {
        columns.push({ x, added, kind, output });
        continue;
      }
      const pixel = Math.floor(x);
      // Outputs are bytes, keep-alives hang below the axis.
      const key = (pixel * 256 + output) * 2 + (kind === KEEP_ALIVE ? 1 : 0);
      const column = pixels.get(key);
      if (!column) {
        const fresh = { x: pixel + 0.5, added, kind, output, bytes: new Map([[kind, added]]) };
        pixels.set(key, fresh);
        columns.push(fresh);
        continue;
      }
      column.added = Math.max(column.added, added);
      const bytes = (column.bytes.get(kind) ?? 0) + added;
      column.bytes.set(kind, bytes);
      if (bytes > (column.bytes.get(column.kind) ?? 0)) column.kind = kind;
    }
    return columns;
  }

  #bandLabels(bands) {
    const { context } = this;
    const { bandLabels = [] } = this.scene;
    context.textAlign = "left";
    bands.forEach((band, i) => {
      context.fillStyle = this.colour.ink2;
      context.fillText(bandLabels[i] ?? String(i), 6, (band.top + band.bottom) / 2 + 4);
      if (i + 1 < bands.length) {
        context.fillStyle = this.colour.line;
        context.fillRect(0, Math.round(band.bottom), this.width, 1);
      }
    });
  }

  #selectedTick() {
    const { selected, source, scrub } = this.scene;
    if (selected === null || selected >= source.count || scrub !== null) return;
    const bands = this.bands();
    const most = this.#most(source);
    const x = this.x(source.at[selected]);
    if (x < 0 || x > this.width) return;
    const output = source.output[selected];
    const band = bands[Math.min(bands.length - 1, output === NO_OUTPUT ? 0 : output)];
    const height = Math.max(8, Math.sqrt(source.added[selected] / most) * (band.bottom - band.top - 6));
    this.line(x, FLAGS + LABELS, this.axisY(), this.colour.accent);
    this.context.fillStyle = this.colour.accent;
    this.context.fillRect(x - 1.5, band.bottom - height, 3, height);
    drawPointer(this, x);
  }

  /** Where in the whole stream the shown part lies. */
  #overview() {
    const { zoomed, from, to, whole } = this.scene;
    if (!zoomed) return;
    const y = this.axisY();
    this.#rect(0, this.width, y - 4, y, this.colour.line);
    this.#rect((from / whole) * this.width, Math.max((to / whole) * this.width, (from / whole) * this.width + 3), y - 4, y, this.colour.accent);
  }
}
