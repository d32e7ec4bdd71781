// The page that reads a pasted stream: the same view as a capture's, from text.
import * as api from "./api.js";
import { byId, debounce, fill, h, icon } from "./dom.js";
import { EXAMPLES } from "./examples.js";
import { member, pretty } from "./json.js";
import { listen, showHints } from "./keys.js";
import { Paste } from "./paste.js";
import { commonActions, copy, toast } from "./shell.js";
import { ReadFrames } from "./source.js";
import { View } from "./view.js";
import { Provenance } from "./provenance.js";
import { t } from "./words.js";

const TABS = ["answer", "response", "usage"];
const MOST = 64 << 20;

const copyButton = h("button", { class: "button", type: "button", "aria-label": t("action.copy-response") }, icon("copy"), h("span", null, t("action.copy-response")));
copyButton.addEventListener("click", () => copy(responseText, copyButton));
const root = byId("view");
const view = new View(root, { tabs: TABS, actions: [copyButton] });
const paste = new Paste(view.selection);

const format = /** @type {HTMLSelectElement} */ (byId("format"));
const save = /** @type {HTMLButtonElement} */ (byId("save"));
const field = /** @type {HTMLTextAreaElement} */ (
  h("textarea", { class: "mono", spellcheck: "false", autocomplete: "off", wrap: "off", placeholder: t("read.paste-here"), "aria-label": t("read.pasted") })
);
const size = h("span", { class: "dim" });
const file = /** @type {HTMLInputElement} */ (h("input", { type: "file", hidden: true }));
const openFile = h("button", { class: "button plain", type: "button", onclick: () => file.click() }, icon("file"), t("read.open-file"));
const edit = h("button", { class: "button plain", type: "button", hidden: true, onclick: () => showField() }, t("read.edit"));
const nothing = h("div", { class: "nothing-read" }, h("b", null, t("read.nothing")), h("p", null, t("read.nothing-text")));
const problem = h("p", { class: "part-failed", role: "alert", hidden: true });

fill(byId("paste"), h("header", { class: "pane-head" }, h("h2", null, t("read.pasted")), size, h("span", { class: "grow" }), edit, openFile, file), field, paste.element);
root.append(nothing, problem);
root.classList.add("nothing-yet");
paste.element.hidden = true;

/** What is read: a text, or a file's bytes (a binary stream is no text). @type {Uint8Array | null} */
let body = null;
let answer = null;
let asked = null;

function showField() {
  field.hidden = false;
  paste.element.hidden = true;
  edit.hidden = true;
  field.focus();
}

function showLines(text) {
  field.hidden = true;
  paste.element.hidden = false;
  edit.hidden = false;
  paste.show(text);
  paste.setFrames(answer.frames, answer.findings);
}

async function read() {
  asked?.abort();
  if (!body || body.length === 0) return clearView();
  if (body.length > MOST) return fail(`${Math.ceil(body.length / (1 << 20))} MiB > 64 MiB`);
  asked = new AbortController();
  try {
    const { value, text } = await api.read(body, { format: format.value }, asked.signal);
    answer = value;
    problem.hidden = true;
    root.classList.remove("nothing-yet");
    save.disabled = false;
    show(value, text);
  } catch (error) {
    if (error.name !== "AbortError") fail(error.message);
  }
}

function show(reading, text) {
  const provenance = new Provenance();
  provenance.add(reading.provenance);
  view.provenance.parts = provenance.parts;
  const source = new ReadFrames(reading.frames, provenance.bytesByFrame(), body);
  view.show({ summary: null, request: null, response: null, reading, moments: null, ending: null, source, readingText: () => text });
  view.traced();
  const auto = format.options[0];
  auto.textContent = format.value ? t("read.auto") : t("read.auto-found", { format: reading.format });
  showLines(new TextDecoder().decode(body));
  showSize();
}

function showSize() {
  size.textContent = body?.length ? t("read.size", { lines: paste.lines.length, bytes: body.length }) : "";
}

function clearView() {
  root.classList.add("nothing-yet");
  problem.hidden = true;
  save.disabled = true;
  answer = null;
  size.textContent = "";
}

function fail(why) {
  problem.hidden = false;
  problem.textContent = t("read.failed", { why });
}

function take(text, { keep = false } = {}) {
  field.value = text;
  body = new TextEncoder().encode(text);
  if (!keep) view.selection.set({ frame: null, span: null, finding: null, at: null, opened: false });
  return read();
}

async function takeFile(chosen) {
  if (!chosen) return;
  body = new Uint8Array(await chosen.arrayBuffer());
  field.value = "";
  view.selection.set({ frame: null, span: null, finding: null, at: null, opened: false });
  await read();
}

async function saveCapture() {
  if (!answer) return false;
  try {
    const { value } = await api.read(body, { format: format.value, save: true });
    location.assign(`/captures/${value.capture_id}`);
  } catch (error) {
    toast(error.message);
  }
  return true;
}

async function responseText() {
  const text = answer ? member(view.model.readingText(), ["response"]) : null;
  if (text === null || text === "null") throw new Error(t("action.no-response"));
  return pretty(text).text;
}

const readSoon = debounce(() => {
  body = new TextEncoder().encode(field.value);
  read();
}, 500);

field.addEventListener("input", readSoon);
field.addEventListener("paste", () => setTimeout(() => take(field.value)));
field.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) take(field.value);
});
format.addEventListener("change", () => read());
file.addEventListener("change", () => takeFile(file.files?.[0]));
save.addEventListener("click", saveCapture);
byId("clear").addEventListener("click", () => {
  field.value = "";
  body = null;
  clearView();
  showField();
});

for (const [name, example] of Object.entries(EXAMPLES)) {
  byId("examples").append(h("button", { type: "button", onclick: () => take(example()) }, t(`read.example-${name}`)));
}

// Text pasted anywhere on the page, and files dropped on it, are meant for it.
document.addEventListener("paste", (event) => {
  if (event.target === field || event.target instanceof HTMLInputElement) return;
  const text = event.clipboardData?.getData("text/plain");
  if (text) take(text);
});
document.addEventListener("dragover", (event) => {
  event.preventDefault();
  document.body.classList.add("dropping");
});
document.addEventListener("dragleave", (event) => {
  if (!event.relatedTarget) document.body.classList.remove("dropping");
});
document.addEventListener("drop", (event) => {
  event.preventDefault();
  document.body.classList.remove("dropping");
  const dropped = event.dataTransfer?.files[0];
  if (dropped) takeFile(dropped);
  else take(event.dataTransfer?.getData("text/plain") ?? "");
});

view.selection.onChange((_value, how) => {
  if (answer) paste.mark(how.scroll !== false && how.from !== "paste");
});

listen("read", {
  ...commonActions,
  ...view.keys(),
  back: () => view.back(),
  "copy-response": () => copy(responseText),
  save: saveCapture,
});
view.onHints = (now) => showHints("read", now);
showHints("read");

// The page comes back in the other language with what was pasted, if that is not too much for the browser to keep.
const KEPT = "teeline-pasted";
addEventListener("teeline-language", () => {
  try {
    sessionStorage.setItem(KEPT, JSON.stringify([field.value, format.value]));
  } catch {
    // It has to be pasted again.
  }
});
try {
  const [text, name] = JSON.parse(sessionStorage.getItem(KEPT) ?? "[]");
  sessionStorage.removeItem(KEPT);
  if (name) format.value = name;
  if (text) take(text, { keep: true });
} catch {
  // What is there is not ours.
}
