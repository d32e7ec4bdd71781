// One table of keys: what is done, what the hint bar says and what the sheet lists all come from it.
import { fill, h, isTyping } from "./dom.js";
import { t } from "./words.js";

/**
 * `keys`: alternatives, each a key or a sequence of two. `pages`: where it works, all if left out. `hint`: the
 * pages whose hint bar shows it. `when`: only while the page says so. A later entry of the same key and page wins.
 * @type {{ group: string, keys: string[], action: string, words: string, hintWords?: string,
 *   pages?: string[], hint?: string[], between?: string, when?: string, order?: number }[]}
 */
export const KEYS = [
  { group: "everywhere", keys: ["/"], action: "search", words: "key.search", hintWords: "hint.search", hint: ["list"], order: 4 },
  { group: "everywhere", keys: ["j", "k"], action: "rows", words: "key.rows", hintWords: "hint.rows", hint: ["list", "capture", "read"], order: 1, when: "rows" },
  { group: "everywhere", keys: ["Enter"], action: "enter", words: "key.open", hint: ["list"], order: 2, when: "rows" },
  { group: "everywhere", keys: ["Escape"], action: "back", words: "key.back", hintWords: "hint.back", hint: ["capture", "compare"], order: 9 },
  { group: "everywhere", keys: ["g c"], action: "go-captures", words: "key.captures" },
  { group: "everywhere", keys: ["g r"], action: "go-read", words: "key.read" },
  { group: "everywhere", keys: ["t"], action: "theme", words: "key.theme" },
  { group: "everywhere", keys: ["?"], action: "sheet", words: "key.sheet", hintWords: "key.all", hint: ["list", "capture", "read", "compare"], order: 20 },
  { group: "list", keys: ["x"], action: "mark", words: "key.mark", pages: ["list", "capture"], hint: ["list"], order: 3, when: "rows" },
  { group: "list", keys: ["d"], action: "delete", words: "key.delete", pages: ["list", "capture"] },
  { group: "list", keys: ["e"], action: "export", words: "key.export", pages: ["list", "capture"], hint: ["list", "capture"], order: 8, when: "rows" },
  { group: "list", keys: [" "], action: "pause", words: "key.pause", hintWords: "hint.pause", pages: ["list", "capture"], hint: ["list", "capture"], order: 9, when: "follows" },
  { group: "list", keys: ["g g"], action: "newest", words: "key.newest", pages: ["list"], hint: ["list"], order: 10, when: "rows" },
  { group: "list", keys: ["1", "5"], between: "–", action: "copy-line", words: "key.copy-line", pages: ["list"], hint: ["list"], order: 0, when: "empty" },
  { group: "capture", keys: ["1", "5"], between: "–", action: "tab", words: "key.tabs", hintWords: "hint.tabs", pages: ["capture"], hint: ["capture"], order: 3 },
  { group: "capture", keys: ["f"], action: "filter", words: "key.filter", hintWords: "hint.filter", pages: ["capture", "read"], hint: ["capture", "read"], order: 4 },
  { group: "capture", keys: ["o"], action: "open-frame", words: "key.open-frame", pages: ["capture", "read"] },
  { group: "capture", keys: ["[", "]"], action: "findings", words: "key.findings", hintWords: "hint.findings", pages: ["capture", "read"], hint: ["capture", "read"], order: 2, when: "findings" },
  { group: "capture", keys: [",", "."], action: "step", words: "key.step", hintWords: "answer.step", pages: ["capture", "read"], hint: ["capture", "read"], order: 0, when: "scrubbed" },
  { group: "capture", keys: ["n", "p"], action: "neighbours", words: "key.neighbours", hintWords: "hint.captures", pages: ["capture"], hint: ["capture"], order: 5 },
  { group: "capture", keys: ["c"], action: "copy-response", words: "key.copy-response", pages: ["capture", "read"], hint: ["capture", "read"], order: 6 },
  { group: "lane", keys: ["+", "-"], action: "zoom", words: "key.zoom", pages: ["capture", "read"] },
  { group: "lane", keys: ["0"], action: "whole", words: "key.whole", pages: ["capture", "read"] },
  { group: "lane", keys: ["ArrowLeft", "ArrowRight"], action: "frame", words: "key.frame", pages: ["capture", "read"] },
  { group: "lane", keys: ["Shift+ArrowLeft", "Shift+ArrowRight"], action: "gap", words: "key.gap", pages: ["capture", "read"] },
  { group: "compare", keys: ["j", "k"], action: "differences", words: "key.differences", hintWords: "hint.differences", pages: ["compare"], hint: ["compare"], order: 1, when: "rows" },
  { group: "compare", keys: ["1", "4"], between: "–", action: "section", words: "key.section", hintWords: "hint.section", pages: ["compare"], hint: ["compare"], order: 2, when: "rows" },
  { group: "compare", keys: ["="], action: "same", words: "key.same", pages: ["compare"], hint: ["compare"], order: 4, when: "rows" },
  { group: "compare", keys: ["s"], action: "swap", words: "key.swap", hintWords: "hint.swap", pages: ["compare"], hint: ["compare"], order: 3, when: "rows" },
  { group: "read", keys: ["1", "3"], between: "–", action: "tab", words: "key.tabs", hintWords: "hint.tabs", pages: ["read"], hint: ["read"], order: 3 },
  { group: "read", keys: ["s"], action: "save", words: "key.save", pages: ["read"], hint: ["read"], order: 7 },
];

const CAPS = { " ": "Space", Escape: "Esc", ArrowLeft: "←", ArrowRight: "→", ArrowUp: "↑", ArrowDown: "↓", Shift: "Shift" };
const cap = (key) => h("kbd", null, CAPS[key] ?? key);
const caps = (keys) => keys.split(/[ +](?=.)/).map((key) => cap(key === "" ? " " : key));
const capsOf = (keys) => (keys === " " || keys === "+" ? [cap(keys)] : caps(keys));

/** The key caps of an entry, `or` or its own word between the alternatives. */
export function keyCaps(entry, or) {
  return entry.keys.flatMap((keys, i) => [i > 0 && (or ? h("span", { class: "or" }, entry.between ?? t("keys.or")) : entry.between), ...capsOf(keys)]);
}

/** Enter and Space belong to the button that has the focus, Enter to the link. */
function isForControl(event) {
  if (!(event.target instanceof Element)) return false;
  if (event.key === "Enter") return event.target.closest("button, a[href], summary") !== null;
  return event.key === " " && event.target.closest("button, summary") !== null;
}

const name = (event) => (event.shiftKey && event.key.startsWith("Arrow") ? `Shift+${event.key}` : event.key);

function digitBetween(entry, key) {
  return entry.between && key.length === 1 && key >= entry.keys[0] && key <= entry.keys[1] ? Number(key) : -1;
}

/**
 * Listens for the keys of a page. An action gets the place of the alternative that was pressed (0 or 1), for
 * `1`–`5` the number. An action that gives `false` leaves the key to the browser.
 * @param {string} page
 * @param {Record<string, (which: number, event: KeyboardEvent) => any>} actions
 */
export function listen(page, actions) {
  const usable = KEYS.filter((entry) => (!entry.pages || entry.pages.includes(page)) && actions[entry.action]);
  let first = "";
  let timer = 0;

  const run = (pressed, event) => {
    for (const entry of usable) {
      const digit = digitBetween(entry, pressed);
      const which = digit >= 0 ? digit : entry.keys.indexOf(pressed);
      if (which < 0) continue;
      if (actions[entry.action](which, event) !== false) {
        event.preventDefault();
        return true;
      }
    }
    return false;
  };

  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (document.querySelector("dialog[open]") || document.querySelector(".menu")) return;
    if (isTyping(event.target)) {
      if (event.key === "Escape") actions["leave-field"]?.(0, event);
      return;
    }
    if (isForControl(event)) return;
    clearTimeout(timer);
    const sequence = first && `${first} ${event.key}`;
    first = "";
    if (sequence && run(sequence, event)) return;
    if (run(name(event), event) || run(alias(name(event)), event)) return;
    if (event.key === "g") {
      first = "g";
      timer = setTimeout(() => (first = ""), 1200);
    }
  });
}

/** Arrows do what j and k do; `=` is the unshifted `+` where it has no meaning of its own. */
const alias = (key) => ({ ArrowDown: "j", ArrowUp: "k", "=": "+" })[key] ?? "";

/**
 * Fills the hint bar with the keys that are valid now.
 * @param {string} page
 * @param {Record<string, boolean>} [now] the conditions that hold
 */
export function showHints(page, now = {}) {
  const root = document.getElementById("hints");
  const shown = KEYS.filter((entry) => entry.hint?.includes(page) && (!entry.when || now[entry.when]));
  shown.sort((a, b) => (a.order ?? 0) - (b.order ?? 0));
  // In the past, Escape leads to the end first.
  const wordsOf = (entry) => {
    if (entry.action === "back" && now.scrubbed) return "answer.back";
    if (entry.hintWords === "hint.rows") return page === "list" ? "key.move" : "key.frames";
    return entry.hintWords ?? entry.words;
  };
  const key = shown.map((entry) => entry.action + wordsOf(entry)).join();
  if (root.dataset.shown === key) return;
  root.dataset.shown = key;
  fill(
    root,
    shown.map((entry) => h("span", { class: "hint" }, keyCaps(entry, false), h("span", null, t(wordsOf(entry))))),
  );
}
