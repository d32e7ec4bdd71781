// The page of all captures.
import * as api from "./api.js";
import { byId, fill, h, icon, throttle } from "./dom.js";
import { showEmpty } from "./empty.js";
import { number } from "./format.js";
import { listen, showHints } from "./keys.js";
import { follow } from "./live.js";
import { severityMark, stateMark } from "./marks.js";
import { SEGMENTS, segmentOf, tokens, withoutSegment } from "./query.js";
import { Rows } from "./rows.js";
import { Search } from "./search.js";
import { commonActions, confirm, openMenu, showBack, showLost, toast, toastUndo } from "./shell.js";
import { t } from "./words.js";

const PAGE = 200;
/** How many ids are handed to the capture page, for "next" and "previous". */
const HANDED = 2000;

const state = {
  /** @type {any[]} newest first */
  captures: [],
  /** New ones that wait behind the pill. @type {any[]} */
  waiting: [],
  /** The cursor of the page after the last one; `null`: all are here. */
  next: null,
  query: "",
  counts: { all: 0, open: 0, broken: 0, findings: 0 },
  /** How many there are without any query. */
  total: 0,
  loaded: false,
  loading: false,
  paused: false,
  pressed: false,
  copyLine: null,
};

const rows = new Rows(byId("rows"), { nearEnd: () => loadMore(), scrolled: () => rows.atTop() && state.waiting.length && takeWaiting() });
const search = new Search(byId("search"), { changed: (query) => show(query, { typed: true }), seen });

/** Values that the list has shown, for completion. */
function seen() {
  const of = (value) => [...new Set(state.captures.flatMap(value).filter(Boolean))].slice(0, 50);
  return {
    model: of((c) => c.model),
    upstream: of((c) => c.upstream),
    tool: of((c) => c.tool_names),
    path: of((c) => c.path),
  };
}

// Loading

let asked = null;

/** Shows what a query gives, from its newest capture on. */
async function show(query, { typed = false, remember = true } = {}) {
  state.query = query;
  // What is being typed stays as it is.
  if (!typed) search.set(query);
  if (remember) history.replaceState(null, "", query ? `?q=${encodeURIComponent(query)}` : location.pathname);
  drawSegments();
  asked?.abort();
  asked = new AbortController();
  state.loading = true;
  const slow = setTimeout(drawSkeleton, 120);
  try {
    const page = await api.list({ q: query, limit: PAGE }, asked.signal);
    state.captures = page.captures;
    state.waiting = [];
    state.next = page.next;
    state.loaded = true;
    search.showProblem(null);
    rows.root.scrollTop = 0;
    takeCounts(query, page.counts);
    draw();
    refreshCounts();
  } catch (error) {
    if (error.name === "AbortError") return;
    if (error.status === 400) search.showProblem(error.message);
    else drawFailure(error);
  } finally {
    clearTimeout(slow);
    state.loading = false;
  }
}

async function loadMore() {
  if (state.loading || state.next === null) return;
  state.loading = true;
  const { query } = state;
  try {
    const page = await api.list({ q: query, before: state.next, limit: PAGE * 2 });
    if (query !== state.query) return;
    const known = new Set(state.captures.map((capture) => capture.id));
    state.captures.push(...page.captures.filter((capture) => !known.has(capture.id)));
    state.next = page.next;
    draw();
  } catch (error) {
    toast(t("list.failed", { why: error.message }));
    state.next = null;
  } finally {
    state.loading = false;
  }
}

/** The counts are those of a query without its segment, so that the other segments show what they would have. */
function takeCounts(query, counts) {
  if (query === state.query) state.counts = counts;
  if (query === "") state.total = counts.all;
}

/** How many captures the query has. */
const shown = () => (state.next === null ? state.captures.length + state.waiting.length : state.counts[segmentOf(tokens(state.query))]);

const refreshCounts = throttle(async () => {
  try {
    for (const query of new Set([state.query, ""])) {
      takeCounts(query, (await api.list({ q: query, limit: 1 })).counts);
    }
    drawSegments();
    drawNote();
  } catch {
    // The banner of the lost connection, or the list itself, says it.
  }
}, 1000);

/** Asks for the newest page again and takes what is new, changed or gone. Gives how many are new. */
async function catchUp() {
  const { query } = state;
  const page = await api.list({ q: query, limit: PAGE });
  if (query !== state.query) return 0;
  const fresh = page.captures.filter((capture) => !take(capture));
  const present = new Set(page.captures.map((capture) => capture.id));
  const oldest = page.captures.at(-1)?.id ?? "";
  const gone = (capture) => !present.has(capture.id) && (page.next === null || capture.id > oldest);
  state.captures = state.captures.filter((capture) => !gone(capture));
  state.waiting = state.waiting.filter((capture) => !gone(capture));
  arrive(fresh);
  takeCounts(query, page.counts);
  draw();
  refreshCounts();
  return fresh.length;
}

const catchUpSoon = throttle(() => catchUp().catch(() => {}), 1000);

// Live

/** Takes a newer state of a capture that is here; false if it is not. */
function take(summary) {
  for (const list of [state.captures, state.waiting]) {
    const at = list.findIndex((capture) => capture.id === summary.id);
    if (at >= 0) {
      list[at] = summary;
      return true;
    }
  }
  return false;
}

/** Whether new rows may come in: nothing moves under the eye or the pointer. */
const mayMove = () => rows.atTop() && !state.paused && !state.pressed;

/** New captures: shown at the top, or counted into the pill. */
function arrive(summaries) {
  if (summaries.length === 0) return;
  const list = mayMove() ? state.captures : state.waiting;
  for (const summary of summaries) {
    if (list === state.captures) summary.fresh = true;
    // Ids sort by time, so one that was brought back finds its place.
    const at = list.findIndex((capture) => capture.id < summary.id);
    list.splice(at < 0 ? list.length : at, 0, summary);
  }
}

function takeWaiting() {
  arrive(state.waiting.splice(0));
  draw();
}

const changed = new Map();
const apply = throttle(() => {
  const unknown = [];
  for (const summary of changed.values()) if (!take(summary)) unknown.push(summary);
  const oldest = state.captures.at(-1)?.id;
  const fitting = unknown.filter((summary) => !state.query && (state.next === null || !oldest || summary.id > oldest));
  if (unknown.length > fitting.length || state.query) catchUpSoon();
  for (const summary of changed.values()) rows.update(summary);
  changed.clear();
  if (fitting.length) {
    arrive(fitting);
    draw();
  }
  if (unknown.length) refreshCounts();
}, 100);

let backAfterLoss = false;
follow("/api/live", {
  events: {
    capture: (summary) => {
      if (!state.loaded) return;
      const before = state.captures.find((capture) => capture.id === summary.id);
      if (before && before.state !== summary.state) refreshCounts();
      changed.set(summary.id, summary);
      apply();
    },
    deleted: ({ id }) => {
      changed.delete(id);
      state.captures = state.captures.filter((capture) => capture.id !== id);
      state.waiting = state.waiting.filter((capture) => capture.id !== id);
      drawSoon();
      refreshCounts();
    },
    missed: () => catchUpSoon(),
  },
  opened: async (again) => {
    if (!again && !backAfterLoss) return;
    try {
      const n = state.loaded ? await catchUp() : (await show(state.query, { remember: false }), 0);
      showBack(backAfterLoss ? n : 0);
    } catch {
      return;
    }
    backAfterLoss = false;
  },
  lost: (seconds, retry) => {
    backAfterLoss = true;
    showLost(seconds, retry);
  },
});

// Drawing

const drawSoon = throttle(() => draw(), 100);

function draw() {
  const nothing = state.captures.length === 0;
  const filtered = state.query !== "";
  const place = byId("list-state");
  rows.root.hidden = nothing;
  place.hidden = !nothing;
  byId("list-page").classList.toggle("is-empty", nothing && !filtered);
  rows.setItems(state.captures);
  if (nothing && filtered) {
    fill(
      place,
      h(
        "p",
        { class: "nothing" },
        `${t("list.nothing")} ${state.total ? t("list.hidden", { n: state.total }) : ""} `,
        h("button", { class: "button", type: "button", onclick: () => show("") }, t("list.clear-search")),
      ),
    );
  } else if (nothing) {
    if (!place.querySelector(".welcome")) state.copyLine = showEmpty(place);
  } else {
    place.replaceChildren();
  }
  drawPill();
  drawSegments();
  drawNote();
  showHints("list", { rows: !nothing, empty: nothing && !filtered });
}

function drawPill() {
  const pill = byId("pill");
  pill.hidden = state.waiting.length === 0;
  fill(pill, icon("arrow-up"), t("list.new", { n: state.waiting.length }));
}

function drawSegments() {
  const pressed = segmentOf(tokens(state.query));
  const marks = { open: () => stateMark("open"), broken: () => stateMark("broken"), findings: () => severityMark("warning") };
  const box = byId("segments");
  if (box.childElementCount === 0) {
    for (const name of Object.keys(SEGMENTS)) {
      const label = [marks[name]?.(), t(`segment.${name}`), h("span", { class: "count" })];
      box.append(h("button", { type: "button", data: { segment: name }, onclick: () => chooseSegment(name) }, label));
    }
  }
  for (const button of box.children) {
    const name = button.dataset.segment;
    button.setAttribute("aria-pressed", String(name === pressed));
    button.querySelector(".count").textContent = number(state.counts[name]);
  }
  search.showCount(shown(), state.total);
}

function chooseSegment(name) {
  const filters = withoutSegment(tokens(state.query));
  if (SEGMENTS[name]) filters.push(SEGMENTS[name]);
  show(filters.join(" "));
}

function drawNote() {
  fill(byId("hint-note"), h("span", null, t("list.total-captures", { n: state.total })), state.total === 0 && h("span", null, t("list.stay")));
}

function drawSkeleton() {
  if (state.captures.length > 0) return;
  const place = byId("list-state");
  place.hidden = false;
  const bars = () => [1, 2, 3, 4].map((n) => h("span", { class: `skeleton s${n}` }));
  fill(place, h("div", { class: "skeletons" }, Array.from({ length: 14 }, () => h("div", { class: "skeleton-row" }, bars()))));
}

function drawFailure(error) {
  const place = byId("list-state");
  rows.root.hidden = state.captures.length === 0;
  place.hidden = state.captures.length > 0;
  const again = h("button", { class: "button", type: "button", onclick: () => show(state.query, { remember: false }) }, t("retry"));
  fill(place, h("p", { class: "part-failed" }, t("list.failed", { why: error.message }), again));
}

// What is open goes on counting.
setInterval(() => {
  if (document.hidden) return;
  for (const capture of state.captures) if (capture.state === "open") rows.update(capture);
}, 200);

// Acting

function setPaused(paused) {
  state.paused = paused;
  for (const button of [byId("pause"), byId("pause-mobile")]) {
    button.setAttribute("aria-pressed", String(paused));
    fill(button, icon(paused ? "play" : "pause", button.id === "pause"), h("span", null, t(paused ? "list.resume" : "list.pause")));
  }
  if (!paused && mayMove()) takeWaiting();
}

async function remove(id) {
  try {
    const next = rows.neighbour(1)?.id === id ? rows.neighbour(-1) : rows.neighbour(1);
    await api.remove(id);
    state.captures = state.captures.filter((capture) => capture.id !== id);
    draw();
    if (next && next.id !== id) rows.select(next.id);
    toastUndo(1, () => api.undelete([id]).then(catchUp));
  } catch (error) {
    toast(error.message);
  }
}

async function removeShown() {
  const query = [state.query, "-state:open"].filter(Boolean).join(" ");
  try {
    const { counts } = await api.list({ q: query, limit: 1 });
    if (counts.all === 0 || !(await confirm(t("clear.question", { n: counts.all }), t("clear.delete"), t("clear.keep")))) return;
    const undo = Number((await api.removeMatching(query)).headers.get("x-teeline-undo"));
    await catchUp();
    toastUndo(counts.all, () => api.undelete([], undo).then(() => show(state.query, { remember: false })));
  } catch (error) {
    toast(error.message);
  }
}

function exportMenu(id, anchor) {
  const kinds = ["raw", "stamped", "text", "response", "reading", "frames", "har", "curl"];
  openMenu(anchor, kinds.map((kind) => ({ label: t(`export.${kind}`), href: api.exportPath(id, kind) })));
}

const selectedRow = () => rows.drawn.get(rows.selected ?? "")?.element;

byId("pill").addEventListener("click", () => {
  rows.root.scrollTop = 0;
  takeWaiting();
});
byId("pause").addEventListener("click", () => setPaused(!state.paused));
byId("pause-mobile").addEventListener("click", () => setPaused(!state.paused));
byId("list-more").addEventListener("click", (event) =>
  openMenu(event.currentTarget, [
    { label: t(state.query ? "list.delete-shown" : "list.delete-all"), icon: "trash", danger: true, run: removeShown },
  ]),
);

// Rows stay still under a pressed pointer: what is clicked is what was aimed at.
rows.root.addEventListener("pointerdown", (event) => {
  state.pressed = true;
  const row = event.target.closest(".row");
  if (row) rows.select(idOf(row), false);
});
for (const name of ["pointerup", "pointercancel", "blur"]) {
  addEventListener(name, () => {
    state.pressed = false;
    if (state.waiting.length && mayMove()) takeWaiting();
  });
}
rows.root.addEventListener("mouseover", (event) => {
  const cell = event.target.closest(".c-time");
  if (cell) cell.title = relative(idOf(cell.closest(".row")));
});

const idOf = (row) => row.getAttribute("href").split("/").at(-1);

function relative(id) {
  const capture = state.captures.find((known) => known.id === id);
  if (!capture) return "";
  const ago = (Date.now() - new Date(capture.started_at).getTime()) / 1000;
  const [value, unit] = ago < 60 ? [ago, "second"] : ago < 3600 ? [ago / 60, "minute"] : ago < 86_400 ? [ago / 3600, "hour"] : [ago / 86_400, "day"];
  return `${new Intl.RelativeTimeFormat("en").format(-Math.floor(value), unit)} · ${capture.started_at}`;
}

/** What the capture page needs to step through this list, and this page to come back to its place. */
addEventListener("pagehide", () => {
  try {
    const ids = state.captures.map((capture) => capture.id);
    const at = Math.max(0, ids.indexOf(rows.selected ?? "") - HANDED / 2);
    const handed = { query: state.query, first: at, total: shown(), ids: ids.slice(at, at + HANDED), top: rows.root.scrollTop };
    sessionStorage.setItem("teeline-list", JSON.stringify(handed));
  } catch {
    // Without storage the capture page asks for the list itself.
  }
});

listen("list", {
  ...commonActions,
  search: () => search.input.focus(),
  rows: (which) => {
    const next = rows.neighbour(which === 0 ? 1 : -1);
    if (next) rows.select(next.id);
    return Boolean(next);
  },
  enter: () => (rows.selected ? location.assign(`/captures/${rows.selected}`) : false),
  back: () => (state.query ? show("") : false),
  delete: () => (rows.selected ? remove(rows.selected) : false),
  export: () => (selectedRow() ? exportMenu(rows.selected, selectedRow()) : false),
  pause: () => setPaused(!state.paused),
  newest: () => {
    rows.root.scrollTop = 0;
    takeWaiting();
  },
  "copy-line": (which) => (state.captures.length === 0 ? state.copyLine?.(which) : false),
});

addEventListener("popstate", () => show(new URLSearchParams(location.search).get("q") ?? "", { remember: false }));

/** Where this list was left for a capture, if that is where the reader comes from. */
function leftAt() {
  try {
    const id = sessionStorage.getItem("teeline-return");
    const handed = JSON.parse(sessionStorage.getItem("teeline-list") ?? "null");
    sessionStorage.removeItem("teeline-return");
    return id && handed?.query === state.query ? { id, top: handed.top } : null;
  } catch {
    return null;
  }
}

await show(new URLSearchParams(location.search).get("q") ?? "", { remember: false });
const left = leftAt();
if (left) {
  while (state.next !== null && state.captures.length * rows.height < left.top + rows.root.clientHeight) await loadMore();
  rows.root.scrollTop = left.top;
  rows.select(left.id, false);
}
