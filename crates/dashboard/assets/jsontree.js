// JSON as a tree that folds, and as indented text. Branches are built when they are opened.
import { fill, h } from "./dom.js";
import { number } from "./format.js";
import { withoutData } from "./inlinedata.js";
import { check, parse, pretty } from "./json.js";
import { copyButton } from "./shell.js";
import { t } from "./words.js";

/** How many entries of a branch are shown at once. */
const STEP = 200;
/** How much of a long string stands in the tree. */
const LONG = 2000;

function leaf(node) {
  if (node.kind === "string") {
    const shown = node.text.length > LONG ? `${node.text.slice(0, LONG)}…` : node.text;
    return h("span", { class: "j-string" }, JSON.stringify(shown));
  }
  return h("span", { class: "j-literal" }, node.text);
}

function branch(key, node, depth) {
  const label = key === null ? [] : [h("span", { class: "j-key" }, key), ": "];
  if (node.kind === "string" || node.kind === "literal") return h("div", { class: "j-leaf" }, label, leaf(node));
  const [left, right] = node.kind === "object" ? "{}" : "[]";
  if (node.entries.length === 0) return h("div", { class: "j-leaf" }, label, left + right);
  const body = h("div", { class: "j-body" });
  const details = h("details", null, h("summary", null, label, h("span", { class: "j-count" }, `${left} ${number(node.entries.length)} ${right}`)), body);
  const more = (from) => {
    const entries = node.entries.slice(from, from + STEP);
    body.append(...entries.map(([name, value], i) => branch(node.kind === "object" ? name : String(from + i), value, depth + 1)));
    if (node.entries.length > from + STEP) {
      const rest = h("button", { class: "link", type: "button" }, `+${number(node.entries.length - from - STEP)}`);
      rest.addEventListener("click", () => {
        rest.remove();
        more(from + STEP);
      });
      body.append(rest);
    }
  };
  const open = () => {
    if (body.childElementCount === 0) more(0);
  };
  details.addEventListener("toggle", open);
  if (depth < 4 && node.entries.length <= 30) {
    details.open = true;
    open();
  }
  return details;
}

/** The tree of a valid JSON text. */
export const jsonTree = (text) => h("div", { class: "json-tree mono" }, branch(null, parse(text), 0));

/** The indented text of a valid JSON text. */
export const jsonText = (text) => h("pre", { class: "json-text" }, pretty(text).text);

/** Tree and raw of a JSON text with a switch and a copy button; text that is not JSON as it is. Data shows as its size and is copied whole. */
export function jsonView(source, head = null) {
  const text = withoutData(source);
  if (!check(text).valid) {
    return h("div", { class: "json-view" }, h("div", { class: "json-bar" }, head, h("span", { class: "grow" }), copyButton(t("copy"), source)), h("pre", { class: "json-text" }, text));
  }
  const body = h("div", null);
  const show = (kind) => {
    fill(body, kind === "tree" ? jsonTree(text) : jsonText(text));
    for (const button of buttons) button.setAttribute("aria-pressed", String(button.dataset.kind === kind));
  };
  const buttons = ["tree", "raw"].map((kind) =>
    h("button", { type: "button", data: { kind }, onclick: () => show(kind) }, t(`response.${kind}`)),
  );
  show("tree");
  const bar = h("div", { class: "json-bar" }, head, h("span", { class: "grow" }), h("div", { class: "segments small" }, buttons), copyButton(t("copy"), () => pretty(source).text));
  return h("div", { class: "json-view" }, bar, body);
}
