// How much the store holds, how much it may, and how far back it goes: the note of the hint bar.
import * as api from "./api.js";
import { byId, fill, h, throttle } from "./dom.js";
import { size } from "./format.js";
import { t } from "./words.js";

/** The store as it was last asked for: `{captures, bytes, limit_bytes, keep_days, oldest}`. */
let store = null;
/** How many captures the list knows of: newer than the store's own number. */
let captures = 0;

const MINUTE = 60_000;
const UNITS = [
  ["age.days", 24 * 60 * MINUTE],
  ["age.hours", 60 * MINUTE],
  ["age.minutes", MINUTE],
];

/** How long ago a moment was, in its largest unit; nothing below a minute. */
function age(moment) {
  const ago = Date.now() - Date.parse(moment);
  const unit = UNITS.find(([, length]) => ago >= length);
  return unit ? t(unit[0], { n: Math.floor(ago / unit[1]) }) : "";
}

/** A size that is never smaller than it can be told: in megabytes from the first byte on. */
export const megabytes = (bytes) => (bytes < 1e6 ? `${Math.max(0.1, bytes / 1e6).toFixed(1)} MB` : size(bytes));

/** How much all captures take, in words; nothing while that is not known. */
export const storeSize = () => (store && captures > 0 ? megabytes(store.bytes) : "");

/** What deletes captures by itself. */
function bounds() {
  const { limit_bytes: limit, keep_days: days } = store;
  return [limit && t("store.limit", { limit: size(limit) }), days && t("store.days", { n: days })].filter(Boolean).join(" ");
}

function draw() {
  const parts = [h("span", null, t("list.total-captures", { n: captures }))];
  if (captures === 0) {
    parts.push(h("span", null, t("list.stay")));
  } else if (store) {
    const used = megabytes(store.bytes);
    const limit = store.limit_bytes;
    parts.push(h("span", { title: bounds() }, limit ? t("store.of", { used, limit: size(limit) }) : used));
    const oldest = store.oldest && age(store.oldest);
    if (oldest) parts.push(h("span", { title: new Date(store.oldest).toLocaleString() }, t("store.oldest", { age: oldest })));
  }
  fill(byId("hint-note"), parts);
}

/** Shows how many captures there are, and what is known of the store. */
export function showStore(total) {
  captures = total;
  draw();
}

/** Asks for the store's size: it changes with every capture, and nobody reads that fast. */
export const askStore = throttle(async () => {
  try {
    store = await api.store();
    draw();
  } catch {
    // The list says what failed; what is not known is not shown.
  }
}, 2000);
