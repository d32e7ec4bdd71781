// The page of one capture.
import * as api from "./api.js";
import { byId, fill, h, icon } from "./dom.js";
import { number } from "./format.js";
import { member, pretty } from "./json.js";
import { listen, showHints } from "./keys.js";
import { compareWith, mark } from "./comparemark.js";
import { follow } from "./live.js";
import { commonActions, copy, openMenu, showBack, showLost, toast, toastUndo } from "./shell.js";
import { StoredFrames } from "./source.js";
import { View } from "./view.js";
import { t } from "./words.js";

const id = byId("view").dataset.id ?? "";
const TABS = ["answer", "response", "request", "headers", "usage"];
/** How long until a final state that could not be loaded is asked for again, in milliseconds. */
const RELOAD = 2000;
const DOWNLOADS = ["raw", "stamped", "text", "response", "reading", "frames", "har", "curl"];

// Actions

const button = (name, label, run, attributes = {}) => {
  // The label stays where the words do not fit beside the icon.
  const element = h("button", { class: "button", type: "button", "aria-label": t(label), title: name ? t(label) : null, ...attributes }, name && icon(name), h("span", null, t(label)));
  element.addEventListener("click", () => run(element));
  return element;
};

const pauseButton = button("pause", "list.pause", () => setPaused(!paused));
const copyResponse = button("copy", "action.copy-response", (element) => copy(responseText, element));
const curlButton = button("", "action.curl", (element) => copy(() => api.exportText(id, "curl"), element));
const exportButton = h("button", { class: "button", type: "button", "aria-label": t("action.export"), "aria-haspopup": "menu", "aria-expanded": "false", onclick: () => exportMenu() }, icon("export"), h("span", null, t("action.export")), icon("down"));
const compareButton = button("compare", "action.compare", () => compareWith(id));
const moreButton = h("button", { class: "icon-button", type: "button", title: t("more"), "aria-label": t("more"), "aria-haspopup": "menu", "aria-expanded": "false", onclick: () => moreMenu() }, icon("more", false));

const view = new View(byId("view"), { tabs: TABS, actions: [pauseButton, copyResponse, curlButton, exportButton, compareButton, moreButton] });
const source = new StoredFrames(id);
source.onRetry = () => trace();

/** The newest state. @type {any} */
let model = null;
let paused = false;
let ended = false;

async function responseText() {
  const text = model ? member(model.readingText(), ["response"]) : null;
  if (text === null || text === "null") throw new Error(t("action.no-response"));
  return pretty(text).text;
}

function exportMenu(anchor = exportButton) {
  const copies = [
    { label: t("action.copy-raw"), icon: "copy", run: () => copy(() => api.exportText(id, "raw")) },
    { label: t("action.copy-stamped"), icon: "copy", run: () => copy(() => api.exportText(id, "stamped")) },
    { label: t("action.copy-text"), icon: "copy", run: () => copy(() => view.answer.text()) },
    null,
  ];
  openMenu(anchor, [...copies, ...DOWNLOADS.map((kind) => ({ label: t(`export.${kind}`), icon: "export", href: api.exportPath(id, kind) }))]);
}

function moreMenu() {
  openMenu(moreButton, [{ label: t("action.delete"), icon: "trash", danger: true, run: remove }]);
}

async function remove() {
  try {
    await api.remove(id);
  } catch (error) {
    toast(error.message);
    return;
  }
  live?.stop();
  toastUndo(1, () => api.undelete([id]).then(() => location.reload()));
  view.root.classList.add("gone");
}

// Loading

async function load() {
  try {
    const { value, text } = await api.exchange(id);
    model = { ...value, source, readingText: () => member(text, ["reading"]) };
    view.show(model);
    document.title = `${model.summary.upstream} ${model.summary.model ?? ""} · teeline`;
  } catch (error) {
    fail(error);
    return;
  }
  await trace();
  pauseButton.hidden = model.summary.state !== "open";
  if (model.summary.state === "open") watch();
  else ended = true;
}

function fail(error) {
  if (view.model) {
    // What is shown stays; its final state is asked for again.
    if (error.status !== 404) setTimeout(load, RELOAD);
    return;
  }
  const again = h("button", { class: "button", type: "button", onclick: () => location.reload() }, t("retry"));
  const words = error.status === 404 ? t("capture.gone") : t("capture.failed", { why: error.message });
  fill(view.root, h("p", { class: "part-failed" }, words, error.status === 404 ? h("a", { class: "button", href: "/" }, t("problem.back")) : again));
}

/** The columns are asked for at once, beside the capture itself: for both the server reads the whole stream. */
let early = source.grow();
early.catch(() => {});

let traced = 0;
let tracing = false;
let again = false;

/** Fetches the frames and the provenance that are not here yet; asked for again meanwhile, once more. */
async function trace() {
  if (tracing) {
    again = true;
    return;
  }
  tracing = true;
  try {
    do {
      again = false;
      const from = traced;
      const known = source.count;
      const first = early;
      early = null;
      await (first ?? source.grow());
      // It was asked for before the capture: that may have ended since, with more frames.
      if (first && source.count < model.reading.counts.frames) await source.grow();
      // The columns first, then the provenance: an entry then never names a frame that is not here for long.
      const entries = await api.provenance(id, from);
      const fresh = entries.filter(([frame]) => frame < source.count);
      view.provenance.add(fresh);
      traced = source.count;
      if (source.count !== known || known === 0) view.show(model);
      view.traced();
    } while (again);
  } catch (error) {
    source.failure ??= error;
    source.announce();
  } finally {
    tracing = false;
  }
}

// Live

let live = null;
/** It ended while this page was paused. */
let held = false;

function watch() {
  live = follow(`/api/captures/${encodeURIComponent(id)}/live`, {
    events: {
      summary: (summary) => (model.summary = summary),
      reading: (reading, text) => take(reading, text),
      end: (summary) => {
        ended = true;
        live.stop();
        model.summary = summary;
        // While paused everything stays as it is, its end too.
        if (paused) held = true;
        else load();
      },
    },
    opened: (reopened) => reopened && showBack(0),
    lost: (seconds, retry) => {
      if (ended) return;
      showLost(seconds, retry);
      api.exchange(id).catch((error) => {
        if (error.status !== 404) return;
        live.stop();
        showBack(0);
        fill(view.root, h("p", { class: "part-failed" }, t("capture.gone"), h("a", { class: "button", href: "/" }, t("problem.back"))));
      });
    },
  });
}

/** Takes a newer reading: at most one a frame of the screen, and none while paused. */
let waiting = null;
function take(reading, text) {
  if (!waiting) requestAnimationFrame(apply);
  waiting = { reading, text };
}

function apply() {
  const newest = waiting;
  if (paused || !newest || ended) return;
  waiting = null;
  const { reading, text } = newest;
  model = { ...model, reading, readingText: () => text };
  view.show(model);
  if (reading.counts.frames > source.count) trace();
}

function setPaused(now) {
  if (model?.summary.state !== "open" && !paused) return false;
  paused = now;
  pauseButton.setAttribute("aria-pressed", String(paused));
  pauseButton.setAttribute("aria-label", t(paused ? "list.resume" : "list.pause"));
  fill(pauseButton, icon(paused ? "play" : "pause"), h("span", null, t(paused ? "list.resume" : "list.pause")));
  if (!paused && waiting) apply();
  if (!paused && held) {
    held = false;
    load();
  }
  return true;
}

setInterval(() => {
  if (!document.hidden && !paused) view.tick();
}, 100);

// Neighbours

let neighbours = null;
const asked = findNeighbours().catch(() => {});

async function findNeighbours() {
  let handed = null;
  try {
    handed = JSON.parse(sessionStorage.getItem("teeline-list") ?? "null");
  } catch {
    // What is there is not ours.
  }
  if (!handed?.ids.includes(id)) {
    const page = await api.list({ limit: 1000 });
    handed = { query: "", first: 0, total: page.counts.all, ids: page.captures.map((capture) => capture.id) };
  }
  const at = handed.ids.indexOf(id);
  neighbours = { newer: handed.ids[at - 1], older: at < 0 ? undefined : handed.ids[at + 1], query: handed.query };
  byId("previous").toggleAttribute("disabled", !neighbours.newer);
  byId("next").toggleAttribute("disabled", !neighbours.older);
  if (at >= 0) byId("hint-note").textContent = t("list.of", { shown: handed.first + at + 1, all: handed.total });
}

const go = (other) => (other ? (location.assign(`/captures/${other}`), true) : false);
byId("previous").addEventListener("click", () => toNeighbour(1));
byId("next").addEventListener("click", () => toNeighbour(0));

/** Goes to the older one (0) or the newer (1). While they are asked for it waits for the answer. */
function toNeighbour(which) {
  if (!neighbours) return asked.then(() => neighbours && toNeighbour(which));
  return go(which === 0 ? neighbours.older : neighbours.newer);
}

function toList() {
  const query = neighbours?.query;
  location.assign(query ? `/?q=${encodeURIComponent(query)}` : "/");
}

addEventListener("pagehide", () => {
  try {
    sessionStorage.setItem("teeline-return", id);
  } catch {
    // The list then begins at its top.
  }
});

fill(
  byId("bottom-bar"),
  h("button", { type: "button", onclick: () => copy(responseText) }, icon("copy", false), t("copy")),
  h("button", { type: "button", "aria-expanded": "false", onclick: (event) => exportMenu(event.currentTarget) }, icon("export", false), t("action.export")),
  h("button", { type: "button", onclick: () => compareWith(id) }, icon("compare", false), t("action.compare")),
  h("button", { type: "button", onclick: remove }, icon("trash", false), t("action.delete")),
);

listen("capture", {
  ...commonActions,
  ...view.keys(),
  back: () => view.back() || toList(),
  neighbours: toNeighbour,
  "copy-response": () => copy(responseText),
  mark: () => mark(id),
  export: () => exportMenu(),
  delete: () => remove(),
  pause: () => setPaused(!paused),
});
view.onHints = (now) => showHints("capture", now);
showHints("capture");
load();
