// Where one or both captures of a comparison are still to be chosen: the newest captures, and a search.
import * as api from "./api.js";
import { debounce, fill, h, icon } from "./dom.js";
import { clock, count, day, dayKey } from "./format.js";
import { stateMark, stateOf } from "./marks.js";
import { t } from "./words.js";

const LIMIT = 100;

const when = (date) => (dayKey(date) === dayKey(new Date()) ? clock(date) : `${day(date)} ${clock(date)}`);

function choice(summary, letter, choose) {
  const usage = summary.usage;
  return h(
    "button",
    { class: "pick-row", type: "button", disabled: Boolean(letter), onclick: () => choose(summary) },
    letter ? h("span", { class: "side" }, letter) : stateMark(stateOf(summary)),
    h("span", { class: "dim" }, when(new Date(summary.started_at))),
    h("b", null, summary.upstream),
    h("span", { class: "pick-model" }, summary.model ?? ""),
    h("span", { class: "pick-text" }, summary.preview || summary.tool_names.join(" ") || summary.path),
    h("span", { class: "dim n" }, count(usage?.output_tokens)),
  );
}

/**
 * @param {HTMLElement} root
 * @param {{ first: any, choose: (id: string) => void }} options `first`: the summary of A, if it is chosen
 */
export function pick(root, { first, choose }) {
  const list = h("div", { class: "pick-list", role: "group", "aria-label": t("nav.captures") });
  const input = h("input", { type: "search", class: "pick-search", placeholder: t("list.search-short"), "aria-label": t("list.search"), autocomplete: "off", spellcheck: "false" });
  let asked = null;
  const load = async () => {
    asked?.abort();
    const own = new AbortController();
    asked = own;
    try {
      const { captures } = await api.list({ q: input.value.trim(), limit: LIMIT }, own.signal);
      const rows = captures.map((summary) => choice(summary, summary.id === first?.id ? "A" : "", ({ id }) => choose(id)));
      fill(list, rows.length ? rows : h("p", { class: "pane-note" }, t(input.value ? "list.nothing" : "compare.nothing-yet")));
    } catch (error) {
      if (error.name !== "AbortError") fill(list, h("p", { class: "part-failed", role: "alert" }, error.message));
    }
  };
  input.addEventListener("input", debounce(load, 180));
  fill(
    root,
    h(
      "div",
      { class: "pick" },
      h("h1", null, icon("compare", false), t(first ? "compare.pick-b" : "compare.pick-a")),
      h("p", null, t(first ? "compare.pick-b-text" : "compare.pick-a-text")),
      input,
      list,
    ),
  );
  load();
  return { focus: () => input.focus() };
}
