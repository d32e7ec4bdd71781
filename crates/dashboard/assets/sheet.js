// The sheet of all keys and marks, made from the same tables as the hint bar and the marks themselves.
import { h } from "./dom.js";
import { KEYS, keyCaps } from "./keys.js";
import { SEVERITIES, STATES, severityMark, stateMark } from "./marks.js";
import { t } from "./words.js";

const COLUMNS = [
  ["everywhere", "list", "compare"],
  ["capture", "lane", "read"],
];

const LANE_MARKS = ["text", "reasoning", "tool", "control", "keep-alive", "gap", "scrubber", "selected"];

function keyGroup(group) {
  const rows = KEYS.filter((entry) => entry.group === group).map((entry) =>
    h("div", { class: "key-row" }, h("span", null, keyCaps(entry, true)), h("span", null, t(entry.words))),
  );
  return h("section", null, h("h3", null, t(`keys.${group}`)), rows);
}

const markRow = (mark, name, means) => h("div", { class: "mark-row" }, h("span", null, mark), h("span", null, name), h("span", null, means));
const optional = (key) => (t(key) === key ? "" : t(key));

function marks() {
  return h(
    "div",
    { class: "marks" },
    h("h3", null, t("keys.state")),
    STATES.map((state) => markRow(stateMark(state), t(`state.${state}`), t(`state.${state}-means`))),
    h("h3", null, t("keys.findings")),
    SEVERITIES.map((severity) => markRow(severityMark(severity), t(`severity.${severity}`), t(`severity.${severity}-means`))),
    h("h3", null, t("keys.lane")),
    LANE_MARKS.map((mark) => markRow(h("span", { class: `swatch ${mark}` }), t(`marks.${mark}`), optional(`marks.${mark}-means`))),
  );
}

/** Opens the sheet. Escape closes it. */
export function openSheet() {
  const find = h("input", { class: "find", type: "search", placeholder: t("keys.find"), "aria-label": t("keys.find") });
  const body = h("div", { class: "columns" }, COLUMNS.map((groups) => h("div", null, groups.map(keyGroup))), marks());
  const close = h("button", { class: "link", type: "button", title: t("close"), onclick: () => dialog.close() }, h("kbd", null, "Esc"));
  const dialog = /** @type {HTMLDialogElement} */ (
    h("dialog", { class: "sheet", "aria-label": t("keys.title") }, h("header", null, t("keys.title"), find, close), body)
  );
  find.addEventListener("input", () => {
    const wanted = find.value.trim().toLowerCase();
    for (const row of body.querySelectorAll(".key-row, .mark-row")) row.hidden = !row.textContent.toLowerCase().includes(wanted);
    for (const section of body.querySelectorAll("section")) section.hidden = !section.querySelector(".key-row:not([hidden])");
  });
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}
