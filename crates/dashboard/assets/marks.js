// The marks that list, head, panel and lane share: states, findings, tool chips.
import { h, symbol } from "./dom.js";
import { number } from "./format.js";
import { t } from "./words.js";

/** Every state that has a mark, in the order of the sheet. */
export const STATES = ["open", "finished", "broken", "partial", "failed", "left", "interrupted", "empty"];
/** Worst first. */
export const SEVERITIES = ["error", "warning", "note"];

const BY_VERDICT = { finished: "finished", "did-not-finish": "broken", "not-the-whole-stream": "partial", empty: "empty" };

/**
 * Which mark a capture gets, from how its connection ended and how its stream reads. A finished answer stays
 * finished however the connection ended after it.
 * @param {{ state: string, status: number | null, verdict: string | null }} summary
 */
export function stateOf(summary) {
  if (summary.state === "open") return "open";
  if (summary.state === "failed" || (summary.status ?? 0) >= 400) return "failed";
  if (summary.verdict === "finished") return "finished";
  if (summary.state === "interrupted") return "interrupted";
  if (summary.state === "client-left") return "left";
  if (summary.state === "upstream-broke") return "broken";
  return BY_VERDICT[summary.verdict ?? ""] ?? "empty";
}

/** The mark of a reading that has no connection of its own. */
export const stateOfVerdict = (verdict) => BY_VERDICT[verdict] ?? "empty";

/** The state's dot, labelled for screen readers. */
export function stateMark(state) {
  const mark = symbol(`m-${state === "interrupted" ? "broken" : state}`, `mark ${state}`);
  mark.removeAttribute("aria-hidden");
  mark.setAttribute("role", "img");
  mark.setAttribute("aria-label", t(`state.${state}`));
  return mark;
}

/** A finding's mark. */
export const severityMark = (severity) => symbol(`f-${severity}`, `mark badge ${severity}`);

/** The marks with their numbers; a count of 0 is not drawn. */
export function findingCounts(counts) {
  return SEVERITIES.filter((severity) => counts[severity] > 0).map((severity) =>
    h(
      "span",
      { class: `count-mark ${severity}`, title: t("severity.count", { n: counts[severity], severity }) },
      severityMark(severity),
      number(counts[severity]),
    ),
  );
}

/** Tool chips: each name once, `×2` when called again, at most `most` and then `+n`. */
export function toolChips(names, most = 3) {
  const times = new Map();
  for (const name of names) times.set(name, (times.get(name) ?? 0) + 1);
  const chips = [...times].slice(0, most).map(([name, n]) => h("span", { class: "chip tool" }, n > 1 ? `${name} ×${n}` : name));
  if (times.size > most) chips.push(h("span", { class: "chip" }, t("list.more-tools", { n: times.size - most })));
  return chips;
}

/** How many findings of each severity a reading lists, the counted repeats included. */
export function countFindings(findings) {
  const counts = { error: 0, warning: 0, note: 0 };
  for (const finding of findings) counts[finding.severity] += finding.count;
  return counts;
}
