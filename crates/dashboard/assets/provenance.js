// Which frame added which characters of which part. The server counts bytes of UTF-8, texts here have UTF-16 units.

/** Bytes of UTF-8 of the character at `i`, and the units that it takes. */
function widths(text, i) {
  const c = text.charCodeAt(i);
  if (c < 0x80) return [1, 1];
  if (c < 0x800) return [2, 1];
  if (c >= 0xd800 && c < 0xdc00 && i + 1 < text.length) {
    const low = text.charCodeAt(i + 1);
    if (low >= 0xdc00 && low < 0xe000) return [4, 2];
  }
  return [3, 1];
}

/** The runs of one part: run `i` was added by `frames[i]` and ends before character `ends[i]`. */
class Runs {
  constructor() {
    this.frames = [];
    this.bytes = [];
    /** Ends in characters, as far as they were worked out. */
    this.ends = [];
    this.at = 0;
    this.counted = -1;
    this.distinct = 0;
  }

  add(frame, bytes, cut) {
    let rest = cut;
    while (rest > 0 && this.bytes.length > 0) {
      const last = this.bytes.length - 1;
      const taken = Math.min(rest, this.bytes[last]);
      this.bytes[last] -= taken;
      rest -= taken;
      if (this.bytes[last] === 0) {
        this.bytes.pop();
        this.frames.pop();
      }
    }
    if (cut > 0) {
      this.counted = -1;
      this.#again();
    }
    if (bytes === 0) return;
    this.frames.push(frame);
    this.bytes.push(bytes);
  }

  #again() {
    this.ends = [];
    this.at = 0;
  }

  /** Works out where the runs end in `text`. What is worked out stays right while the text only grows. */
  measure(text) {
    if (this.ends.length && this.ends.at(-1) > text.length) this.#again();
    for (let run = this.ends.length; run < this.bytes.length; run += 1) {
      let left = this.bytes[run];
      let at = this.at;
      while (left > 0 && at < text.length) {
        const [bytes, units] = widths(text, at);
        left -= bytes;
        at += units;
      }
      // The text does not hold this run yet.
      if (left > 0) return;
      this.at = at;
      this.ends.push(at);
    }
  }

  /** The run that holds character `at`, or -1. */
  #runAt(at) {
    let low = 0;
    let high = this.ends.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.ends[middle] <= at) low = middle + 1;
      else high = middle;
    }
    return low < this.ends.length ? low : -1;
  }

  frameAt(at) {
    const run = this.#runAt(at);
    return run < 0 ? null : this.frames[run];
  }

  /** `[from, to]` of what the frames `first..=last` added, one for each run. */
  ranges(first, last) {
    const ranges = [];
    for (let run = 0; run < this.ends.length; run += 1) {
      const frame = this.frames[run];
      if (frame < first || frame > last) continue;
      const from = run === 0 ? 0 : this.ends[run - 1];
      const previous = ranges.at(-1);
      if (previous && previous[1] === from) previous[1] = this.ends[run];
      else ranges.push([from, this.ends[run]]);
    }
    return ranges;
  }

  /** How many characters stood after frame `last`, for text that only grew. */
  lengthAt(last) {
    let length = 0;
    for (let run = 0; run < this.ends.length && this.frames[run] <= last; run += 1) length = this.ends[run];
    return length;
  }

  /** First and last frame, and how many there are. */
  summary() {
    if (this.counted !== this.frames.length) {
      this.counted = this.frames.length;
      this.distinct = new Set(this.frames).size;
    }
    return { first: this.frames[0] ?? null, last: this.frames.at(-1) ?? null, count: this.distinct };
  }
}

const EMPTY = new Runs();

/** The log of a whole reading. */
export class Provenance {
  constructor() {
    /** @type {Map<string, Runs>} */
    this.parts = new Map();
    this.entries = 0;
  }

  /** @param {number[][]} entries `[frame, output, part, bytes, cut?]` */
  add(entries) {
    for (const [frame, output, part, bytes, cut = 0] of entries) {
      const key = `${output}:${part}`;
      let runs = this.parts.get(key);
      if (!runs) this.parts.set(key, (runs = new Runs()));
      runs.add(frame, bytes, cut);
      this.entries += 1;
    }
  }

  /** The runs of a part, worked out for its text. */
  of(output, part, text) {
    const runs = this.parts.get(`${output}:${part}`) ?? EMPTY;
    runs.measure(text);
    return runs;
  }

  /** New bytes that each frame added, for a reading whose frames come as a list. */
  bytesByFrame() {
    const bytes = new Map();
    for (const runs of this.parts.values()) {
      runs.frames.forEach((frame, i) => bytes.set(frame, (bytes.get(frame) ?? 0) + runs.bytes[i]));
    }
    return bytes;
  }
}
