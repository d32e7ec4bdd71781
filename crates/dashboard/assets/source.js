// The frames of a reading: columns of numbers for all of them, rows where they are looked at.
import * as api from "./api.js";

/** The kinds by their number in the columns (columns.rs). */
export const KINDS = ["other", "text", "reasoning", "refusal", "tool", "usage", "start", "end", "error", "control", "keep-alive"];
const KEEP_ALIVE = KINDS.indexOf("keep-alive");
/** No output. */
export const NO_OUTPUT = 255;
const PAGE = 200;
/** Pages fetched at a time: what was scrolled past meanwhile is not asked for. */
const AT_ONCE = 2;
/** Pages of rows kept; those that were not looked at for longest go first. */
const KEPT = 60;
/** How much of a frame's bytes is fetched to be shown. */
export const RAW_SHOWN = 256 * 1024;

/** Columns that grow: a typed array that doubles. */
class Column {
  constructor(Type) {
    this.Type = Type;
    this.data = new Type(1024);
  }

  /** Makes room for `length` and gives the array. */
  room(length) {
    if (length > this.data.length) {
      const grown = new this.Type(Math.max(length, this.data.length * 2));
      grown.set(this.data);
      this.data = grown;
    }
    return this.data;
  }
}

/** What both kinds of sources have. */
class Frames {
  constructor() {
    this.count = 0;
    this.columns = {
      at: new Column(Float64Array),
      length: new Column(Uint32Array),
      added: new Column(Uint32Array),
      kind: new Column(Uint8Array),
      output: new Column(Uint8Array),
    };
    this.hasEvents = false;
    this.hasTimes = false;
    /** Frames that come a second or more after the one before. @type {number[]} */
    this.gaps = [];
    /** Silences of a second and more, from and to in milliseconds; keep-alives do not end one. @type {[number, number][]} */
    this.silences = [];
    this.lastLoud = Number.NaN;
    /** The frame that came after the longest gap. */
    this.slowest = 0;
    this.listeners = new Set();
  }

  get at() {
    return this.columns.at.data;
  }
  get length() {
    return this.columns.length.data;
  }
  get added() {
    return this.columns.added.data;
  }
  get kind() {
    return this.columns.kind.data;
  }
  get output() {
    return this.columns.output.data;
  }

  /** Calls `listener` when rows have come that were asked for. */
  onRows(listener) {
    this.listeners.add(listener);
  }

  announce() {
    for (const listener of this.listeners) listener();
  }

  /** Milliseconds since the frame before; NaN where no time is known. */
  delta(i) {
    return i > 0 ? this.at[i] - this.at[i - 1] : Number.NaN;
  }

  /** Looks at what the frames from `from` on mean for the whole. */
  settle(from) {
    for (let i = from; i < this.count; i += 1) {
      if (!Number.isNaN(this.at[i])) this.hasTimes = true;
      const delta = this.delta(i);
      if (delta >= 1000) this.gaps.push(i);
      // The slowest so far may have no time yet.
      if (!Number.isNaN(delta) && !(delta <= this.delta(this.slowest))) this.slowest = i;
      if (this.kind[i] === KEEP_ALIVE) continue;
      if (this.at[i] - this.lastLoud >= 1000) this.silences.push([this.lastLoud, this.at[i]]);
      this.lastLoud = this.at[i];
    }
  }

  /** The first frame at or after a moment. */
  frameAt(ms) {
    let low = 0;
    let high = this.count;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.at[middle] < ms) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** The frame nearest to a moment. */
  nearest(ms) {
    const next = this.frameAt(ms);
    if (next >= this.count) return this.count - 1;
    if (next === 0) return 0;
    return this.at[next] - ms < ms - this.at[next - 1] ? next : next - 1;
  }
}

/** Frames of a stored capture, fetched as they are needed. */
export class StoredFrames extends Frames {
  constructor(id) {
    super();
    this.id = id;
    /** @type {Map<number, any[]>} */
    this.pages = new Map();
    /** @type {Map<number, Promise<void>>} */
    this.loading = new Map();
    this.failure = null;
    /** Fetches what else failed again. @type {(() => void) | null} */
    this.onRetry = null;
  }

  /** Fetches the columns of frames that are not here yet. Gives how many came. */
  async grow() {
    const from = this.count;
    const buffer = await api.columns(this.id, from);
    if (this.count !== from) return 0;
    const view = new DataView(buffer);
    const n = view.getUint32(0, true);
    if (n === 0) return 0;
    let place = 16;
    const total = from + n;
    const take = (name, Type) => {
      const bytes = buffer.slice(place, place + n * Type.BYTES_PER_ELEMENT);
      place += bytes.byteLength;
      this.columns[name].room(total).set(new Type(bytes), from);
    };
    take("at", Float64Array);
    take("length", Uint32Array);
    take("added", Uint32Array);
    take("kind", Uint8Array);
    take("output", Uint8Array);
    this.hasEvents = view.getUint32(8, true) === 1;
    this.count = total;
    this.settle(from);
    return n;
  }

  /** The row of a frame, or `null` while it is being fetched. */
  row(i) {
    const number = Math.floor(i / PAGE);
    const page = this.pages.get(number);
    if (page) {
      this.pages.delete(number);
      this.pages.set(number, page);
    }
    const row = page?.[i - number * PAGE] ?? null;
    // The last page of a stream that grows is asked for again while what is known of it stays on the screen.
    if (!row && !this.failure) this.#load(number);
    return row;
  }

  #load(number) {
    const known = this.loading.get(number);
    if (known) return known;
    // Rows are asked for again when these have come, if they are still in view.
    if (this.loading.size >= AT_ONCE) return Promise.race(this.loading.values());
    const loading = api
      .frames(this.id, number * PAGE, PAGE)
      .then(
        ({ frames }) => {
          this.pages.set(number, frames);
          while (this.pages.size > KEPT) this.pages.delete(this.pages.keys().next().value);
        },
        (error) => {
          this.failure = error;
        },
      )
      .finally(() => {
        this.loading.delete(number);
        this.announce();
      });
    this.loading.set(number, loading);
    return loading;
  }

  /** Tries what failed again. */
  retry() {
    this.failure = null;
    this.onRetry?.();
    this.announce();
  }

  async #rowSoon(i) {
    for (;;) {
      const row = this.row(i);
      if (row || this.failure) return row;
      await this.#load(Math.floor(i / PAGE));
    }
  }

  /** A frame with its data. */
  async whole(i) {
    return (await api.frames(this.id, i, 1, true)).frames[0] ?? null;
  }

  /** The bytes from a frame's first to the next one's. */
  async raw(i) {
    const row = await this.#rowSoon(i);
    if (!row) return null;
    if (row.direction) return this.#message(i, row);
    const next = i + 1 < this.count ? await this.#rowSoon(i + 1) : null;
    const length = next ? next.offset - row.offset : row.length + 4;
    const bytes = await api.bytes(this.id, row.offset, Math.min(length, RAW_SHOWN));
    // After the last frame there may be fewer bytes than asked for.
    return { bytes, offset: row.offset, line: row.line, length: length > RAW_SHOWN ? length : bytes.length };
  }

  /** What a WebSocket message says: its bytes are framed, and the app's are masked. */
  async #message(i, row) {
    const data = (await this.whole(i))?.data ?? null;
    const bytes = data === null ? null : new TextEncoder().encode(data);
    return { bytes, offset: row.offset, line: 1, length: bytes?.length ?? 0, size: row.size };
  }

  matches(q, signal) {
    return api.matches(this.id, q, signal);
  }
}

/** Frames of a pasted stream: all of them are here. */
export class ReadFrames extends Frames {
  /**
   * @param {any[]} rows
   * @param {Map<number, number>} added new bytes by frame
   * @param {Uint8Array} body
   */
  constructor(rows, added, body) {
    super();
    this.rows = rows;
    this.body = body;
    this.count = rows.length;
    for (const column of Object.values(this.columns)) column.room(this.count);
    rows.forEach((row, i) => {
      this.at[i] = row.at_ms ?? Number.NaN;
      this.length[i] = row.length;
      this.added[i] = added.get(row.index) ?? 0;
      this.kind[i] = Math.max(0, KINDS.indexOf(row.kind));
      this.output[i] = row.output === null ? NO_OUTPUT : Math.min(row.output, NO_OUTPUT - 1);
      this.hasEvents ||= row.event !== null;
    });
    this.failure = null;
    this.settle(0);
  }

  row(i) {
    return this.rows[i] ?? null;
  }

  async whole(i) {
    return this.row(i);
  }

  async raw(i) {
    const row = this.rows[i];
    if (!row) return null;
    const end = this.rows[i + 1]?.offset ?? Math.min(this.body.length, row.offset + row.length + 4);
    return { bytes: this.body.subarray(row.offset, Math.min(end, row.offset + RAW_SHOWN)), offset: row.offset, line: row.line, length: end - row.offset };
  }

  async matches(q) {
    const wanted = q.toLowerCase();
    const holds = (row) => [row.event, row.data, row.carried, row.id, ...row.comments].some((text) => text?.toLowerCase().includes(wanted));
    return { frames: this.rows.filter(holds).map((row) => row.index), more: false };
  }
}
