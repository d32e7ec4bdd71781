// What else differs between two captures: the request, the headers, the findings.
import { fields, within } from "./diff.js";
import { fill, h, icon, prose } from "./dom.js";
import { number } from "./format.js";
import { severityMark } from "./marks.js";
import { sentenceOf, t } from "./words.js";

/** How much of a value is shown. */
const LONG = 600;
/** How many differences are listed. */
const MOST = 300;

function bodyOf({ request }) {
  if (!request.body) return undefined;
  try {
    return JSON.parse(request.body);
  } catch {
    return request.body;
  }
}

const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

/** Where two requests differ, and how many members of their bodies do not. */
export function compareRequests(a, b) {
  const found = [];
  for (const name of ["method", "url"]) if (a.request[name] !== b.request[name]) found.push({ path: name, a: a.request[name], b: b.request[name] });
  const [left, right] = [bodyOf(a), bodyOf(b)];
  const inBody = fields(left, right);
  const names = new Set([left, right].flatMap((body) => (isObject(body) ? Object.keys(body) : [])));
  for (const { path } of inBody) names.delete(path.split(/[.[]/)[0]);
  return { differences: [...found, ...inBody], same: [...names] };
}

/** Headers by their name in small letters, values of one name joined. */
function byName(headers) {
  const map = new Map();
  for (const [name, value] of headers ?? []) {
    const key = name.toLowerCase();
    map.set(key, map.has(key) ? `${map.get(key)}, ${value}` : value);
  }
  return map;
}

/** Which headers differ. */
export function compareHeaders(a, b) {
  const [left, right] = [byName(a), byName(b)];
  const names = [...new Set([...left.keys(), ...right.keys()])].sort();
  const differs = (name) => left.get(name) !== right.get(name);
  return { differences: names.filter(differs).map((path) => ({ path, a: left.get(path), b: right.get(path) })), same: names.filter((name) => !differs(name)) };
}

/** Findings that only one of them has: told apart by what they say, not by where. */
export function compareFindings(a, b) {
  const key = (finding) => `${finding.id} ${JSON.stringify(finding.args)}`;
  const only = (mine, others, name) => {
    const left = new Map();
    for (const finding of others) left.set(key(finding), (left.get(key(finding)) ?? 0) + 1);
    return mine.flatMap((finding, index) => {
      const n = left.get(key(finding)) ?? 0;
      left.set(key(finding), n - 1);
      return n > 0 ? [] : [{ name, finding, index }];
    });
  };
  const found = [...only(a.reading.findings, b.reading.findings, "A"), ...only(b.reading.findings, a.reading.findings, "B")];
  return { only: found, same: a.reading.findings.length - found.filter((one) => one.name === "A").length };
}

function valueNodes(text, ranges) {
  const shown = text.length > LONG ? `${text.slice(0, LONG)}…` : text;
  if (!ranges) return [shown];
  const nodes = [];
  let at = 0;
  for (const [from, to] of ranges) {
    if (from >= shown.length) break;
    nodes.push(shown.slice(at, from), h("mark", null, shown.slice(from, to)));
    at = to;
  }
  nodes.push(shown.slice(at));
  return nodes;
}

const written = (value) => (typeof value === "string" ? value : JSON.stringify(value));

/** A difference: its place, and both values. */
function pairOf({ path, a, b }, none) {
  const [left, right] = [a, b].map((value) => (value === undefined ? null : written(value)));
  const marks = left !== null && right !== null ? within(left, right) : null;
  const side = (name, text, ranges) =>
    h("div", { class: "pair-side" }, h("b", null, name), text === null ? h("span", { class: "dim" }, none) : h("span", null, valueNodes(text, ranges)));
  return h("div", { class: "pair differs" }, path && h("div", { class: "pair-path" }, path), side("A", left, marks?.a), side("B", right, marks?.b));
}

function section({ id, title, count, words }, ...content) {
  const name = `${id}-title`;
  return h("section", { class: "compare-side", id, tabindex: "-1", "aria-labelledby": name }, h("header", { class: "pane-head" }, h("h2", { id: name }, title), h("span", { class: "dim" }, count ? words : t("compare.all-same"))), content);
}

function sameNames(names, open) {
  if (names.length === 0) return null;
  const list = h("div", { class: "same-names mono" }, names.join(" · "));
  if (open) return list;
  return h("details", { class: "fold-names" }, h("summary", null, icon("right"), t("compare.more-same", { n: names.length })), list);
}

function differencesView(found, none, open) {
  const rest = found.differences.length - MOST;
  return [
    h("div", { class: "pairs-list mono" }, found.differences.slice(0, MOST).map((difference) => pairOf(difference, none))),
    rest > 0 && h("p", { class: "pane-note" }, t("compare.and-more", { n: number(rest) })),
    sameNames(found.same, open),
  ];
}

function findingView(found, sides) {
  const { finding, name, index } = found;
  const side = sides[name.toLowerCase()];
  const links = h("div", { class: "links" }, h("span", { class: "mono dim" }, finding.id));
  const query = new URLSearchParams({ finding: String(index) });
  if (finding.frame !== null) query.set("frame", String(finding.frame));
  links.append(h("a", { class: "frame-link", href: `/captures/${side.id}?${query}` }, finding.frame === null ? name : `${name} #${number(finding.frame)}`));
  return h("article", { class: `finding ${finding.severity} differs` }, severityMark(finding.severity), h("div", null, h("p", { class: "sentence" }, prose(t("compare.only-in", { name, what: sentenceOf(finding) }))), links));
}

/** The three sections. */
export function sidePanes({ requests, requestHeaders, headers, findings }, sides, { same }) {
  const n = (found) => found.differences.length;
  return h(
    "div",
    { class: "compare-sides", role: "group", tabindex: "0", "aria-label": t("compare.sides") },
    section({ id: "section-3", title: t("tab.request"), count: n(requests), words: t("compare.fields-differ", { n: n(requests) }) }, differencesView(requests, t("compare.not-sent"), same)),
    n(requestHeaders) > 0 &&
      section({ id: "request-headers", title: t("compare.request-headers"), count: n(requestHeaders), words: t("compare.n-differ", { n: n(requestHeaders) }) }, differencesView(requestHeaders, t("compare.not-sent"), same)),
    section({ id: "response-headers", title: t("compare.response-headers"), count: n(headers), words: t("compare.n-differ", { n: n(headers) }) }, differencesView(headers, t("compare.not-sent"), same)),
    section(
      { id: "section-4", title: t("tab.findings"), count: findings.only.length, words: t("compare.findings-only", { a: findings.only.filter((one) => one.name === "A").length, b: findings.only.filter((one) => one.name === "B").length }) },
      fill(h("div", { class: "findings-list" }), findings.only.map((found) => findingView(found, sides))),
      findings.same > 0 && h("p", { class: "pane-note" }, t("compare.findings-same", { n: findings.same })),
    ),
  );
}
