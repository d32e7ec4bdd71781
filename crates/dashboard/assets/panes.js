// The panes beside the answer: the response as JSON, the request, the headers, the usage.
import { fill, h } from "./dom.js";
import { count } from "./format.js";
import { withoutData } from "./inlinedata.js";
import { jsonView } from "./jsontree.js";
import { messagesOf } from "./messages.js";
import { t } from "./words.js";

/** How long a message may be before the rest of it is folded. */
const FOLDED = 4000;

const note = (words) => h("p", { class: "pane-note" }, words);

/** The equivalent response. `text` is its source, `null` if there is none. */
export function responsePane(text, open) {
  if (text === null || text === "null") return note(t("response.none"));
  return h("div", { class: "pane-body" }, jsonView(text, open && h("span", { class: "dim" }, t("response.coming"))));
}

function longText(text) {
  if (text.length <= FOLDED) return h("div", { class: "message-text" }, text);
  const body = h("div", { class: "message-text" }, text.slice(0, FOLDED));
  const more = h("button", { class: "link", type: "button" }, t("answer.of", { shown: FOLDED, all: text.length }));
  more.addEventListener("click", () => {
    body.textContent = text;
    more.remove();
  });
  return h("div", null, body, more);
}

function messageView(message) {
  return h(
    "article",
    { class: `message ${message.role}` },
    h("header", null, h("b", null, message.role), message.note && h("span", { class: "mono dim" }, message.note)),
    message.parts.map((part) =>
      part.text === undefined ? h("details", { class: "message-part" }, h("summary", null, h("span", { class: "mono" }, part.label)), h("pre", { class: "json-text" }, part.json)) : longText(part.text),
    ),
  );
}

/** The request as it is read: system prompt, messages, tools, settings; raw where it is not JSON. */
export function requestPane(request) {
  if (!request.body) return note(t("request.none"));
  const truncated = request.body_truncated && note(t("request.truncated"));
  let body = null;
  try {
    body = JSON.parse(withoutData(request.body));
  } catch {
    return h("div", { class: "pane-body" }, truncated, h("pre", { class: "json-text" }, request.body));
  }
  const view = h("div");
  const kinds = ["read", "raw"];
  const show = (kind) => {
    fill(view, kind === "raw" ? jsonView(request.body) : readable(body));
    for (const button of buttons) button.setAttribute("aria-pressed", String(button.dataset.kind === kind));
  };
  const buttons = kinds.map((kind) => h("button", { type: "button", data: { kind }, onclick: () => show(kind) }, t(`request.${kind}`)));
  show("read");
  return h("div", { class: "pane-body" }, h("div", { class: "json-bar" }, h("span", { class: "mono dim wrap" }, request.url), h("span", { class: "grow" }), h("div", { class: "segments small" }, buttons)), truncated, view);
}

function readable(body) {
  const { messages, tools, settings } = messagesOf(body);
  return [
    settings.length > 0 && h("section", { class: "pane-section" }, h("h2", null, t("request.settings")), table(settings)),
    messages.length > 0 && h("section", { class: "pane-section" }, h("h2", null, `${t("request.messages")} ${messages.length}`), messages.map(messageView)),
    tools.length > 0 &&
      h(
        "section",
        { class: "pane-section" },
        h("h2", null, `${t("request.tools")} ${tools.length}`),
        tools.map((tool) => h("details", { class: "message-part" }, h("summary", null, h("span", { class: "chip tool" }, tool.name), " ", h("span", { class: "dim" }, tool.description)), h("pre", { class: "json-text" }, tool.json))),
      ),
  ];
}

function table(rows) {
  return h("table", { class: "pairs" }, h("tbody", null, rows.map(([name, value]) => h("tr", null, h("th", { scope: "row" }, name), h("td", null, value)))));
}

/** Heads and trailers. */
export function headersPane({ request, response }) {
  const section = (title, line, headers) => h("section", { class: "pane-section" }, h("h2", null, title), line && h("p", { class: "mono wrap" }, line), table(headers));
  return h(
    "div",
    { class: "pane-body mono-pairs" },
    section(t("headers.request"), `${request.method} ${request.url} ${request.version}`, request.headers),
    response ? section(t("headers.response"), `${response.version} ${response.status}${response.reason ? ` ${response.reason}` : ""}`, response.headers) : note(t("headers.none")),
    response?.trailers.length > 0 && section(t("headers.trailers"), null, response.trailers),
  );
}

/** Token counts, and the object that they came in. */
export function usagePane(usage, raw, open) {
  if (!usage) return note(t(open ? "usage.coming" : "usage.none"));
  const rows = [
    [t("usage.input"), usage.input_tokens],
    [t("usage.cached"), usage.cached_tokens],
    [t("usage.output"), usage.output_tokens],
    [t("usage.reasoning"), usage.reasoning_tokens],
    [t("usage.total"), usage.total_tokens],
  ];
  return h(
    "div",
    { class: "pane-body" },
    h("section", { class: "pane-section numbers" }, table(rows.map(([name, value]) => [name, count(value)]))),
    h("section", { class: "pane-section" }, h("h2", null, t("usage.raw")), raw && jsonView(raw)),
  );
}
