// The captures that the list shows, those that wait behind the pill, and how many there are.
import * as api from "./api.js";
import { segmentOf, tokens } from "./query.js";

/** How many captures the first page has. */
export const PAGE = 200;

/** @typedef {{ added: Set<string>, removed: Set<string> }} Meanwhile */

export class Captures {
  constructor() {
    /** Newest first. @type {any[]} */
    this.shown = [];
    /** New ones that wait behind the pill. @type {any[]} */
    this.waiting = [];
    /** The cursor of the page after the last one; `null`: all are here. @type {number | null} */
    this.next = null;
    this.query = "";
    this.counts = { all: 0, open: 0, broken: 0, findings: 0 };
    /** How many there are without any query. */
    this.total = 0;
    this.loaded = false;
    this.loading = false;
    /** What was added and removed while a page was under way, for each of them. @type {Set<Meanwhile>} */
    this.underWay = new Set();
  }

  /** How many captures the query has. */
  get matching() {
    return this.next === null ? this.shown.length + this.waiting.length : this.counts[segmentOf(tokens(this.query))];
  }

  /** The counts are those of a query without its segment, so that the other segments show what they would have. */
  takeCounts(query, counts) {
    if (query === this.query) this.counts = counts;
    if (query === "") this.total = counts.all;
  }

  /**
   * A page of the list, without what was removed here while it was under way: it must not bring that back. `added`:
   * what came here meanwhile, and may be missing in it.
   */
  async #page(parameters, signal) {
    /** @type {Meanwhile} */
    const meanwhile = { added: new Set(), removed: new Set() };
    this.underWay.add(meanwhile);
    try {
      const page = await api.list({ q: this.query, ...parameters }, signal);
      const captures = page.captures.filter((capture) => !meanwhile.removed.has(capture.id));
      return { ...page, captures, added: meanwhile.added };
    } finally {
      this.underWay.delete(meanwhile);
    }
  }

  /** Loads the newest page of the query. */
  async load(signal) {
    const { query } = this;
    const page = await this.#page({ limit: PAGE }, signal);
    this.shown = page.captures;
    this.waiting = [];
    this.next = page.next;
    this.loaded = true;
    this.takeCounts(query, page.counts);
  }

  /** Loads the page after the last one. False if the query has changed meanwhile. */
  async more() {
    const { query } = this;
    const page = await this.#page({ before: this.next, limit: PAGE * 2 });
    if (query !== this.query) return false;
    const known = new Set(this.shown.map((capture) => capture.id));
    this.shown.push(...page.captures.filter((capture) => !known.has(capture.id)));
    this.next = page.next;
    return true;
  }

  async count() {
    for (const query of new Set([this.query, ""])) {
      this.takeCounts(query, (await api.list({ q: query, limit: 1 })).counts);
    }
  }

  /**
   * Asks for the newest page again: takes what changed and leaves out what is gone. Gives what is new.
   * @returns {Promise<any[]>}
   */
  async refresh() {
    const { query } = this;
    const page = await this.#page({ limit: PAGE });
    if (query !== this.query) return [];
    const fresh = page.captures.filter((capture) => !this.take(capture));
    const present = new Set(page.captures.map((capture) => capture.id));
    const oldest = page.captures.at(-1)?.id ?? "";
    const stays = (capture) => present.has(capture.id) || page.added.has(capture.id) || (page.next !== null && capture.id <= oldest);
    this.shown = this.shown.filter(stays);
    this.waiting = this.waiting.filter(stays);
    this.takeCounts(query, page.counts);
    return fresh;
  }

  find(id) {
    return this.shown.find((capture) => capture.id === id);
  }

  /**
   * Takes a state of a capture that is here; false if it is not. An answer may be older than an event that overtook
   * it: what has ended is never open again, and never has fewer bytes.
   */
  take(summary) {
    for (const list of [this.shown, this.waiting]) {
      const at = list.findIndex((capture) => capture.id === summary.id);
      if (at >= 0) {
        if (!isOlder(summary, list[at])) list[at] = summary;
        return true;
      }
    }
    return false;
  }

  /** Adds captures that are new here: to those shown, or behind the pill. */
  add(summaries, atOnce) {
    const list = atOnce ? this.shown : this.waiting;
    for (const summary of summaries) {
      if (atOnce) summary.fresh = true;
      for (const { added } of this.underWay) added.add(summary.id);
      // Ids sort by time, so one that was brought back finds its place.
      const at = list.findIndex((capture) => capture.id < summary.id);
      list.splice(at < 0 ? list.length : at, 0, summary);
    }
  }

  /** Whether a capture belongs among those that are loaded. Only the server knows what a query means. */
  belongs(summary) {
    const oldest = this.shown.at(-1)?.id;
    return !this.query && (this.next === null || !oldest || summary.id > oldest);
  }

  remove(id) {
    for (const { removed } of this.underWay) removed.add(id);
    this.shown = this.shown.filter((capture) => capture.id !== id);
    this.waiting = this.waiting.filter((capture) => capture.id !== id);
  }
}

/** Whether `summary` is an earlier state of a capture than `known`. */
const isOlder = (summary, known) =>
  summary.state === "open" && (known.state !== "open" || summary.bytes < known.bytes || summary.frames < known.frames);
