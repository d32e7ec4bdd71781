// The page of all captures.
import * as api from "./api.js";
import { Captures } from "./captures.js";
import { byId, debounce, fill, h, icon, throttle } from "./dom.js";
import { showEmpty } from "./empty.js";
import { number } from "./format.js";
import { listen, showHints } from "./keys.js";
import { mark } from "./comparemark.js";
import { locale } from "./language.js";
import { follow } from "./live.js";
import { severityMark, stateMark } from "./marks.js";
import { SEGMENTS, segmentOf, tokens, withoutSegment } from "./query.js";
import { askRecording, recordingEntry, showRecording } from "./recording.js";
import { Rows } from "./rows.js";
import { Search } from "./search.js";
import { commonActions, confirm, openMenu, showBack, showLost, toast, toastUndo } from "./shell.js";
import { askStore, megabytes, showStore, storeSize } from "./storesize.js";
import { t } from "./words.js";

/** How many ids are handed to the capture page, for "next" and "previous". */
const HANDED = 2000;

const captures = new Captures();
const state = {
  paused: false,
  pressed: false,
  copyLine: null,
  typing: false,
  /** Something happened, or may have, while a list was under way: that list may be older. */
  overtaken: false,
};

const rows = new Rows(byId("rows"), { nearEnd: () => loadMore(), scrolled: () => rows.atTop() && captures.waiting.length && takeWaiting() });
const search = new Search(byId("search"), { changed: (query) => show(query, { typed: true }), seen });

/** How many values of a key are remembered for completion. */
const SEEN = 200;
const values = { model: new Set(), upstream: new Set(), tool: new Set(), path: new Set() };
const valuesOf = { model: (c) => [c.model], upstream: (c) => [c.upstream], tool: (c) => c.tool_names, path: (c) => [c.path] };

/** Remembers the values of what is shown: a search that is being typed may hide all of them. */
function learn(summaries) {
  for (const [key, known] of Object.entries(values)) {
    for (const value of summaries.flatMap(valuesOf[key])) if (value && known.size < SEEN) known.add(value);
  }
}

/** Values that the list has shown, for completion. */
function seen() {
  return Object.fromEntries(Object.entries(values).map(([key, known]) => [key, [...known]]));
}

/** Query and selected capture are in the address: a link opens the same list. */
function writeAddress(push) {
  const query = new URLSearchParams();
  if (captures.query) query.set("q", captures.query);
  if (rows.selected) query.set("sel", rows.selected);
  const address = query.size ? `?${query}` : location.pathname;
  if (push && address !== location.search) history.pushState(null, "", address);
  else history.replaceState(null, "", address);
}

// Browsers take only so many changes of the address, and a held key makes thirty a second.
rows.onSelect = debounce(() => writeAddress(false), 150);

// Loading

let asked = null;

/** Shows what a query gives, from its newest capture on. */
async function show(query, { typed = false, remember = true } = {}) {
  captures.query = query;
  // What is being typed stays as it is.
  if (!typed) search.set(query);
  // A search is one step of the history, not one for each letter.
  if (remember) writeAddress(!(typed && state.typing));
  state.typing = typed;
  drawSegments();
  asked?.abort();
  const own = new AbortController();
  asked = own;
  captures.loading = true;
  const slow = setTimeout(drawSkeleton, 120);
  try {
    await captures.load(own.signal);
    learn(captures.shown);
    search.showProblem(null);
    rows.root.scrollTop = 0;
    draw();
    refreshCounts();
    if (state.overtaken) catchUpSoon();
    state.overtaken = false;
  } catch (error) {
    if (error.name === "AbortError") return;
    if (error.status === 400) search.showProblem(error.message);
    else drawFailure(error);
  } finally {
    clearTimeout(slow);
    if (asked === own) captures.loading = false;
  }
}

async function loadMore() {
  if (captures.loading || captures.next === null) return;
  captures.loading = true;
  try {
    if (await captures.more()) draw();
  } catch (error) {
    toast(t("list.failed", { why: error.message }));
    captures.next = null;
  } finally {
    captures.loading = false;
  }
}

const refreshCounts = throttle(async () => {
  try {
    await captures.count();
    drawSegments();
    showStore(captures.total);
    askStore();
  } catch {
    // The banner of the lost connection, or the list itself, says it.
  }
}, 1000);

/** Takes what is new, changed or gone since the last page was asked for. Gives how many are new. */
async function catchUp() {
  const fresh = await captures.refresh();
  captures.add(fresh, mayMove());
  draw();
  refreshCounts();
  return fresh.length;
}

const catchUpSoon = throttle(() => catchUp().catch(() => {}), 1000);

// Live

/** Whether new rows may come in: nothing moves under the eye or the pointer. */
const mayMove = () => rows.atTop() && !state.paused && !state.pressed;

function takeWaiting() {
  captures.add(captures.waiting.splice(0), mayMove());
  draw();
}

const changed = new Map();
const apply = throttle(() => {
  const unknown = [...changed.values()].filter((summary) => !captures.take(summary));
  const fitting = unknown.filter((summary) => captures.belongs(summary));
  if (unknown.length > fitting.length || captures.query) catchUpSoon();
  for (const { id } of changed.values()) rows.update(captures.find(id) ?? {});
  changed.clear();
  if (fitting.length) {
    captures.add(fitting, mayMove());
    draw();
  }
  if (unknown.length) refreshCounts();
}, 100);

let backAfterLoss = false;
follow("/api/live", {
  events: {
    capture: (summary) => {
      state.overtaken ||= captures.loading;
      if (!captures.loaded) return;
      const before = captures.find(summary.id);
      if (before && before.state !== summary.state) refreshCounts();
      changed.set(summary.id, summary);
      apply();
    },
    deleted: ({ id }) => {
      changed.delete(id);
      captures.remove(id);
      drawSoon();
      refreshCounts();
    },
    missed: () => catchUpSoon(),
    recording: showRecording,
  },
  opened: async (again) => {
    askRecording();
    if (!again && !backAfterLoss) {
      // The first list was asked for before the events began.
      if (captures.loaded) catchUpSoon();
      else state.overtaken = true;
      return;
    }
    try {
      const n = captures.loaded ? await catchUp() : (await show(captures.query, { remember: false }), 0);
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
  const nothing = captures.shown.length === 0;
  const filtered = captures.query !== "";
  const place = byId("list-state");
  rows.root.hidden = nothing;
  place.hidden = !nothing;
  byId("list-page").classList.toggle("is-empty", nothing && !filtered);
  rows.setItems(captures.shown);
  if (nothing && filtered) {
    fill(
      place,
      h(
        "p",
        { class: "nothing" },
        `${t("list.nothing")} ${captures.total ? t("list.hidden", { n: captures.total }) : ""} `,
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
  showStore(captures.total);
  showHints("list", { rows: !nothing, follows: !nothing, empty: nothing && !filtered });
}

function drawPill() {
  const pill = byId("pill");
  pill.hidden = captures.waiting.length === 0;
  fill(pill, icon("arrow-up"), t("list.new", { n: captures.waiting.length }));
}

function drawSegments() {
  const pressed = segmentOf(tokens(captures.query));
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
    button.querySelector(".count").textContent = number(captures.counts[name]);
  }
  search.showCount(captures.matching, captures.total);
}

function chooseSegment(name) {
  const filters = withoutSegment(tokens(captures.query));
  if (SEGMENTS[name]) filters.push(SEGMENTS[name]);
  show(filters.join(" "));
}

function drawSkeleton() {
  if (captures.shown.length > 0) return;
  const place = byId("list-state");
  place.hidden = false;
  const bars = () => [1, 2, 3, 4].map((n) => h("span", { class: `skeleton s${n}` }));
  fill(place, h("div", { class: "skeletons" }, Array.from({ length: 14 }, () => h("div", { class: "skeleton-row" }, bars()))));
}

function drawFailure(error) {
  const place = byId("list-state");
  rows.root.hidden = captures.shown.length === 0;
  place.hidden = captures.shown.length > 0;
  const again = h("button", { class: "button", type: "button", onclick: () => show(captures.query, { remember: false }) }, t("retry"));
  fill(place, h("p", { class: "part-failed" }, t("list.failed", { why: error.message }), again));
}

// What is open goes on counting.
setInterval(() => {
  if (document.hidden) return;
  for (const capture of captures.shown) if (capture.state === "open") rows.update(capture);
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
    captures.remove(id);
    draw();
    if (next && next.id !== id) rows.select(next.id);
    toastUndo(1, () => api.undelete([id]).then(catchUp));
  } catch (error) {
    toast(error.message);
  }
}

async function removeShown() {
  const query = [captures.query, "-state:open"].filter(Boolean).join(" ");
  try {
    const { counts } = await api.list({ q: query, limit: 1 });
    if (counts.all === 0) return;
    // How much a part of them takes is not known.
    const question = captures.query ? t("clear.question", { n: counts.all }) : t("clear.question-all", { n: counts.all, size: megabytes((await api.store()).bytes) });
    if (!(await confirm(question, t("clear.delete"), t("clear.keep")))) return;
    const undo = Number((await api.removeMatching(query)).headers.get("x-teeline-undo"));
    await catchUp();
    toastUndo(counts.all, () => api.undelete([], undo).then(() => show(captures.query, { remember: false })));
  } catch (error) {
    toast(error.message);
  }
}

function exportMenu(id, anchor) {
  const kinds = ["raw", "stamped", "text", "response", "reading", "frames", "har", "curl"];
  openMenu(anchor, kinds.map((kind) => ({ label: t(`export.${kind}`), href: api.exportPath(id, kind) })));
}

function markSelected() {
  mark(rows.selected);
  rows.draw();
  return true;
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
    recordingEntry(),
    captures.query
      ? { label: t("list.delete-shown"), icon: "trash", danger: true, run: removeShown }
      : { label: t("list.delete-all"), what: storeSize(), icon: "trash", danger: true, run: removeShown },
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
    if (captures.waiting.length && mayMove()) takeWaiting();
  });
}
// Cells that say more on hover lie above the link.
rows.root.addEventListener("click", (event) => {
  const row = event.target.closest(".row");
  if (row && !event.target.closest("a") && getSelection().isCollapsed) location.assign(`/captures/${idOf(row)}`);
});
rows.root.addEventListener("mouseover", (event) => {
  const cell = event.target.closest(".c-time");
  if (cell) cell.title = relative(idOf(cell.closest(".row")));
});

const idOf = (row) => row.dataset.id;

function relative(id) {
  const capture = captures.shown.find((known) => known.id === id);
  if (!capture) return "";
  const ago = (Date.now() - new Date(capture.started_at).getTime()) / 1000;
  const [value, unit] = ago < 60 ? [ago, "second"] : ago < 3600 ? [ago / 60, "minute"] : ago < 86_400 ? [ago / 3600, "hour"] : [ago / 86_400, "day"];
  return `${new Intl.RelativeTimeFormat(locale).format(-Math.floor(value), unit)} · ${capture.started_at}`;
}

/** What the capture page needs to step through this list, and this page to come back to its place. */
addEventListener("pagehide", () => {
  try {
    const ids = captures.shown.map((capture) => capture.id);
    const at = Math.max(0, ids.indexOf(rows.selected ?? "") - HANDED / 2);
    const handed = { query: captures.query, first: at, total: captures.matching, ids: ids.slice(at, at + HANDED), top: rows.root.scrollTop };
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
  back: () => (captures.query ? show("") : false),
  delete: () => (rows.selected ? remove(rows.selected) : false),
  mark: () => (rows.selected ? markSelected() : false),
  export: () => (selectedRow() ? exportMenu(rows.selected, selectedRow()) : false),
  pause: () => setPaused(!state.paused),
  newest: () => {
    rows.root.scrollTop = 0;
    takeWaiting();
  },
  "copy-line": (which) => (captures.shown.length === 0 ? state.copyLine?.(which) : false),
});

/** Shows what the address says. */
async function showAddress() {
  const query = new URLSearchParams(location.search);
  const selected = query.get("sel");
  state.typing = false;
  await show(query.get("q") ?? "", { remember: false });
  if (selected && selected !== rows.selected && captures.find(selected)) rows.select(selected, false);
}

addEventListener("popstate", showAddress);

/** Where this list was left for a capture, if that is where the reader comes from. */
function leftAt() {
  try {
    const id = sessionStorage.getItem("teeline-return");
    const handed = JSON.parse(sessionStorage.getItem("teeline-list") ?? "null");
    sessionStorage.removeItem("teeline-return");
    return id && handed?.query === captures.query ? { id, top: handed.top } : null;
  } catch {
    return null;
  }
}

await showAddress();
if (location.hash === "#search") {
  history.replaceState(null, "", location.pathname + location.search);
  search.input.focus();
}
const left = leftAt();
if (left) {
  while (captures.next !== null && captures.shown.length * rows.height < left.top + rows.root.clientHeight) await loadMore();
  rows.root.scrollTop = left.top;
  rows.select(left.id, false);
}
