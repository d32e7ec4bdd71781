// Every word of the pages, by key, from one catalogue a language: english.js and chinese.js. What was on the wire
// (event names, reasons, ids) is never translated.
import { ENGLISH } from "./english.js";
import { duration, number } from "./format.js";
import { language } from "./language.js";

/** English comes with the page, another language only where it is wanted. */
const other = language === "zh" ? await import("./chinese.js") : null;
const words = other?.CHINESE ?? ENGLISH;

/**
 * The words of `key`. A key that is missing shows as itself, so that it is seen.
 * @param {string} key
 * @param {Record<string, any>} [values]
 */
export function t(key, values = {}) {
  const entry = words[key] ?? ENGLISH[key];
  if (entry === undefined) return key;
  if (typeof entry === "function") return entry(values);
  return entry.replace(/\{(\w+)\}/g, (place, name) => (name in values ? written(values[name]) : place));
}

const written = (value) => (typeof value === "number" ? number(value) : String(value));

/** Puts the words into what the templates made: `data-t` holds a text's key, `data-label` a label's. */
export function translate(root) {
  if (other) {
    for (const element of root.querySelectorAll("[data-t]")) element.textContent = t(element.dataset.t);
    for (const element of root.querySelectorAll("[data-label]")) {
      element.setAttribute("aria-label", t(element.dataset.label));
      if (element.title) element.title = t(element.dataset.label);
    }
    const title = root.querySelector?.("title[data-title]");
    if (title) title.textContent = `${t(title.dataset.title)} · teeline`;
  }
  root.documentElement?.classList.remove("untranslated");
}

/** A duration inside a sentence. */
export const time = (ms) => duration(ms);

// What the reader of streams says, in English: sentences of findings, meanings of reasons, what frames carried.

/** A finding's sentence, from its facts. */
export const sentenceOf = (finding) => other?.sentenceOf(finding) ?? finding.message;

/** What a finding means, why it matters and what to do: `entry` as the server's catalogue has it. */
export const explanationOf = (entry) => other?.explanationOf(entry.id) ?? entry;

/** What a finish reason or an error means. */
export const meaningOf = (meaning) => (other && meaning ? other.meaningOf(meaning) : meaning);

/** Why the proxy had no answer to pass on. */
export const failureOf = (kind, message) => other?.failureOf(kind, message) ?? message;

/** What a frame carried. */
export const carriedOf = (carried) => (other && carried ? other.carriedOf(carried) : carried);
