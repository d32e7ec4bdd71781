// Numbers, times and sizes as the pages write them. What is not known is never a number.
import { locale } from "./language.js";

/** Never came. */
export const NEVER = "—";
/** Still coming. */
export const COMING = "…";

const whole = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });

/** `16,611` */
export const number = (value) => whole.format(value);

/** A count that may never have come. */
export const count = (value) => (value === null || value === undefined ? NEVER : number(value));

/**
 * A duration as its digits and its unit: `612 ms`, `5.44 s`, `14.9 s`, `2 m 05 s`.
 * @param {number} ms
 * @param {{ exact?: boolean }} [options] exact: two decimals for every number of seconds below a minute
 * @returns {[string, string]}
 */
export function durationParts(ms, options = {}) {
  if (ms < 999.5) return [String(Math.max(0, Math.round(ms))), "ms"];
  const seconds = ms / 1000;
  if (seconds < 9.995 || (options.exact && seconds < 59.995)) return [seconds.toFixed(2), "s"];
  if (seconds < 59.95) return [seconds.toFixed(1), "s"];
  const rounded = Math.round(seconds);
  const minutes = Math.floor(rounded / 60);
  const rest = String(rounded % 60).padStart(2, "0");
  if (minutes < 60) return [`${minutes} m ${rest}`, "s"];
  return [`${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, "0")}`, "m"];
}

/** The same as one text. */
export const duration = (ms, options) => durationParts(ms, options).join(" ");

/** `16,611 B`, from a megabyte on `1.2 MB`. */
export function size(bytes) {
  if (bytes < 1e6) return `${number(bytes)} B`;
  if (bytes < 1e9) return `${(bytes / 1e6).toFixed(1)} MB`;
  return `${(bytes / 1e9).toFixed(1)} GB`;
}

/** Seconds with milliseconds, as in the frames' column: `5.788`. */
export const seconds = (ms) => (ms / 1000).toFixed(3);

/** The time since the frame before: `+38`, from a second on `+3.24s`. */
export function delta(ms) {
  if (ms < 999.5) return `+${Math.max(0, Math.round(ms))}`;
  return `+${(ms / 1000).toFixed(ms < 99_950 ? 2 : 0)}s`;
}

const clockTime = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit" });
const dayName = new Intl.DateTimeFormat(locale, { weekday: "long", day: "numeric", month: "long", year: "numeric" });

/** `20:31:40`, local. */
export const clock = (date) => clockTime.format(date);

/** `20:31:40.117`, local. */
export const clockExact = (date) => `${clockTime.format(date)}.${String(date.getMilliseconds()).padStart(3, "0")}`;

/** The day as a heading. */
export const day = (date) => dayName.format(date);

/** A day's key, by the local calendar. */
export const dayKey = (date) => date.getFullYear() * 10_000 + date.getMonth() * 100 + date.getDate();

/** A frame's new text on one line, line ends written out. */
export const oneLine = (value) => value.replace(/[\n\r\t]/g, (c) => ({ "\n": "\\n", "\r": "\\r", "\t": "\\t" })[c] ?? c);

/**
 * A format's name without its vendor, left out where it repeats the upstream: `responses`, `chat`, ``.
 * @param {string | null} format
 * @param {string | null} upstream
 */
export function shortFormat(format, upstream) {
  if (!format || format === "unknown" || format === upstream) return "";
  const dash = format.indexOf("-");
  const vendors = ["openai", "anthropic", "gemini", "bedrock", "mistral", "vercel"];
  return dash > 0 && vendors.includes(format.slice(0, dash)) ? format.slice(dash + 1) : format;
}

/** The head and the tail of a hash. */
export const shortHash = (hash) => (hash.length > 12 ? `${hash.slice(0, 6)}…${hash.slice(-4)}` : hash);

/** A sentence as a part of another. */
export const clause = (sentence) => sentence.charAt(0).toLowerCase() + sentence.slice(1).replace(/[.。]$/, "");
