// Two captures beside each other, aligned by content.
import * as api from "./api.js";
import { answerPane, answerText, compareAnswers } from "./compareanswer.js";
import { lanes } from "./comparelanes.js";
import { numbersOf, numbersPane } from "./comparenumbers.js";
import { pick } from "./comparepick.js";
import { compareFindings, compareHeaders, compareRequests, sidePanes } from "./compareside.js";
import { byId, fill, h, icon } from "./dom.js";
import { clockExact, day, dayKey, duration } from "./format.js";
import { listen, showHints } from "./keys.js";
import { follow } from "./live.js";
import { stateMark, stateOf } from "./marks.js";
import { commonActions, copy, openMenu, showBack, showLost } from "./shell.js";
import { StoredFrames } from "./source.js";
import { t } from "./words.js";

const root = byId("view");
/** How much longer one must take for it to be said. */
const SAID_MS = 50;

/** What the address asks for. */
function asked() {
  const query = new URLSearchParams(location.search);
  const at = query.get("diff");
  return { a: query.get("a"), b: query.get("b"), same: query.has("same"), at: at !== null && /^\d+$/.test(at) ? Number(at) : null };
}

/** Writes the address; `push` makes it a step of its own. */
function write(change, push = false) {
  const { a, b, same, at } = { ...asked(), ...change };
  const query = new URLSearchParams();
  if (a) query.set("a", a);
  if (b) query.set("b", b);
  if (same) query.set("same", "1");
  if (at !== null && at !== undefined) query.set("diff", String(at));
  history[push ? "pushState" : "replaceState"](null, "", query.size ? `?${query}` : location.pathname);
}

/** Sides that were loaded, by id. @type {Map<string, any>} */
const loaded = new Map();
let sides = null;
let found = null;

async function load(id) {
  const known = loaded.get(id);
  if (known && known.summary.state !== "open") return known;
  const source = new StoredFrames(id);
  const [{ value }] = await Promise.all([api.exchange(id), source.grow().catch(() => {})]);
  const side = { ...value, id: value.summary.id, source };
  loaded.set(id, side);
  return side;
}

// The verdict

const nameOf = (side, other) => (side.summary.upstream === other.summary.upstream ? side.letter : side.summary.upstream);

function leadOf(answers) {
  if (answers.none) return t("compare.no-answers");
  if (answers.only) return t("compare.only-one", { name: answers.only });
  if (answers.differing === 0) return t("compare.same-answer");
  if (answers.characters === 1) return t("compare.one-character");
  return t("compare.answers-differ", { n: answers.differing, all: answers.all });
}

function restOf(a, b, { requests, findings }) {
  const parts = [];
  const [first, second] = [a.summary.duration_ms, b.summary.duration_ms];
  if (first !== null && second !== null && Math.abs(second - first) >= SAID_MS) {
    const slower = second > first ? b : a;
    parts.push(t(a.summary.upstream === b.summary.upstream ? "compare.longer" : "compare.through-longer", { name: nameOf(slower, slower === a ? b : a), time: duration(Math.abs(second - first)) }));
  }
  if (requests.differences.length) parts.push(t("compare.requests-differ", { n: requests.differences.length }));
  for (const side of [a, b]) {
    const n = findings.only.filter((one) => one.name === side.letter).length;
    if (n) parts.push(t("compare.findings-in", { n, name: nameOf(side, side === a ? b : a) }));
  }
  return parts.length ? t("compare.rest", { parts: parts.join(t("compare.and")) }) : "";
}

// Drawing

function sideHead(side) {
  const { summary } = side;
  const date = new Date(summary.started_at);
  const time = dayKey(date) === dayKey(new Date()) ? t("capture.today", { time: clockExact(date).slice(0, 8) }) : `${day(date)} ${clockExact(date).slice(0, 8)}`;
  return h(
    "a",
    { class: "compare-side-head", href: `/captures/${side.id}` },
    h("span", { class: "side" }, side.letter),
    stateMark(stateOf(summary)),
    h("b", null, summary.upstream),
    h("span", { class: "model" }, [summary.model, side.id.split("-").at(-1)].filter(Boolean).join(" · ")),
    h("span", { class: "grow" }),
    h("span", { class: "dim" }, time),
  );
}

const swapButton = h("button", { class: "button", type: "button", "aria-label": t("compare.swap"), title: t("compare.swap"), onclick: () => swap() }, icon("swap"), h("span", null, t("compare.swap")));
const exportButton = h("button", { class: "button", type: "button", "aria-label": t("action.export"), "aria-haspopup": "menu", "aria-expanded": "false", onclick: () => exportMenu() }, icon("export"), h("span", null, t("action.export")), icon("down"));

function compared() {
  const { a, b } = sides;
  return {
    answers: compareAnswers(a.reading, b.reading),
    numbers: numbersOf(a, b),
    requests: compareRequests(a, b),
    requestHeaders: compareHeaders(a.request.headers, b.request.headers),
    headers: compareHeaders(a.response?.headers, b.response?.headers),
    findings: compareFindings(a, b),
  };
}

function draw() {
  const { a, b } = sides;
  const { same } = asked();
  found = compared();
  document.title = `${t("nav.compare")} ${a.summary.upstream} · ${b.summary.upstream} · teeline`;
  fill(
    root,
    h("div", { class: "head compare-head" }, h("h1", { class: "verdict" }, h("b", null, leadOf(found.answers)), " ", restOf(a, b, found)), h("div", { class: "actions" }, swapButton, exportButton)),
    h("div", { class: "compare-heads" }, sideHead(a), sideHead(b)),
    lanes(a, b),
    h("div", { class: "compare-panes" }, numbersPane(found.numbers), answerPane(found.answers, { same }), sidePanes(found, sides, { same })),
  );
  const { at } = asked();
  if (at !== null) go(at, false);
  hints();
}

const hints = () => showHints("compare", { rows: sides !== null });

function fail(error) {
  const again = h("button", { class: "button", type: "button", onclick: () => show() }, t("retry"));
  const pickOthers = h("a", { class: "button", href: "/compare" }, t("compare.pick-others"));
  fill(root, h("p", { class: "part-failed", role: "alert" }, error.status === 404 ? t("capture.gone") : t("capture.failed", { why: error.message }), error.status === 404 ? pickOthers : again));
  sides = null;
  hints();
}

let turn = 0;

/** Shows what the address asks for. */
async function show() {
  const own = (turn += 1);
  const { a, b } = asked();
  try {
    if (!a || !b) {
      const id = a ?? b;
      const first = id ? (await load(id)).summary : null;
      if (own !== turn) return;
      sides = null;
      const choose = (chosen) => {
        if (first) write({ a: first.id, b: chosen }, true);
        else write({ a: chosen, b: null }, true);
        show();
      };
      picking = pick(root, { first, choose });
      hints();
      return;
    }
    const [left, right] = await Promise.all([load(a), load(b)]);
    if (own !== turn) return;
    picking = null;
    sides = { a: { ...left, letter: "A" }, b: { ...right, letter: "B" } };
    draw();
    watch();
  } catch (error) {
    if (own === turn) fail(error);
  }
}

let picking = null;

// What is still open

let watched = null;

/** Follows a capture that is still open to its end; what is shown is what stood when it was loaded. */
function watch() {
  watched?.stop();
  watched = null;
  const open = [sides.a, sides.b].find((side) => side.summary.state === "open");
  if (!open) return;
  watched = follow(`/api/captures/${encodeURIComponent(open.id)}/live`, {
    events: { end: () => (watched?.stop(), show()) },
    opened: (again) => again && showBack(0),
    lost: showLost,
  });
}

// Acting

function swap() {
  if (!sides) return false;
  const { a, b } = asked();
  write({ a: b, b: a, at: null }, true);
  show();
  return true;
}

function exportMenu() {
  if (!sides) return false;
  const text = () => {
    const rows = found.numbers.map((row) => `${t(`compare.number-${row.name}`)}\t${row.a}\t${row.b}\t${row.words}`);
    return [root.querySelector(".verdict").textContent, `A ${location.origin}/captures/${sides.a.id}`, `B ${location.origin}/captures/${sides.b.id}`, "", ...rows, "", answerText(found.answers)].join("\n");
  };
  const file = (side) => ({ label: `${side.letter} · ${t("export.response")}`, icon: "export", href: api.exportPath(side.id, "response") });
  openMenu(exportButton, [{ label: t("compare.copy-text"), icon: "copy", run: () => copy(text) }, null, file(sides.a), file(sides.b)]);
  return true;
}

const differing = () => [...root.querySelectorAll(".compare-answer .differs, .compare-sides .differs")];

/** Shows the n-th difference. */
function go(n, remember = true) {
  const all = differing();
  if (all.length === 0) return false;
  const at = Math.min(all.length - 1, Math.max(0, n));
  root.querySelector(".differs.current")?.classList.remove("current");
  all[at].classList.add("current");
  all[at].scrollIntoView({ block: "center" });
  if (remember) write({ at });
  return true;
}

function step(by) {
  const { at } = asked();
  const all = differing();
  if (all.length === 0) return false;
  return go(at === null ? (by > 0 ? 0 : all.length - 1) : (at + by + all.length) % all.length);
}

function section(n) {
  const element = document.getElementById(`section-${n}`);
  if (!element) return false;
  element.scrollIntoView({ block: "start" });
  element.focus({ preventScroll: true });
  return true;
}

listen("compare", {
  ...commonActions,
  differences: (which) => step(which === 0 ? 1 : -1),
  section,
  same: () => {
    if (!sides) return false;
    write({ same: !asked().same });
    draw();
    return true;
  },
  swap,
  export: exportMenu,
  search: () => (picking ? picking.focus() : commonActions.search()),
  back: () => (history.length > 1 ? history.back() : location.assign("/")),
});

addEventListener("popstate", show);
hints();
show();
