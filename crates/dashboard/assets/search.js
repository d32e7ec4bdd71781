// The search box: whole filters are chips, the rest stays text. Backspace opens the last chip again.
import { debounce, fill, h, icon } from "./dom.js";
import { number } from "./format.js";
import { completions, isFilter, splitFilter, tokens } from "./query.js";
import { t } from "./words.js";

/** How long typing has to rest before it is searched for. */
const REST = 180;

export class Search {
  /**
   * @param {HTMLElement} root
   * @param {{ changed: (query: string) => void, seen: () => Record<string, string[]> }} options
   */
  constructor(root, { changed, seen }) {
    this.root = root;
    this.seen = seen;
    const placeholder = t(matchMedia("(max-width: 719px)").matches ? "list.search-short" : "list.search");
    this.changed = changed;
    /** @type {string[]} */
    this.filters = [];
    this.applied = "";
    this.chosen = -1;
    this.chips = h("span", { class: "filters" });
    this.input = /** @type {HTMLInputElement} */ (
      h("input", {
        type: "text", id: "query", autocomplete: "off", spellcheck: "false", role: "combobox", "aria-expanded": "false",
        "aria-controls": "completions", "aria-label": t("list.search"), placeholder,
      })
    );
    this.count = h("span", { class: "count" });
    this.key = h("kbd", null, "/");
    this.list = h("div", { class: "completions", id: "completions", role: "listbox", hidden: true });
    this.problem = h("p", { class: "problem-line", role: "alert", hidden: true });
    fill(root, icon("search"), this.chips, this.input, this.count, this.key, this.list, this.problem);
    this.rest = debounce(() => this.apply(), REST);
    this.#listen();
  }

  #listen() {
    const { input, root } = this;
    input.addEventListener("input", () => {
      this.#takeFilters(false);
      this.#complete();
      this.rest();
    });
    input.addEventListener("keydown", (event) => this.#onKey(event));
    input.addEventListener("focus", () => {
      this.key.textContent = "Esc";
      this.#complete();
    });
    input.addEventListener("blur", () => {
      this.key.textContent = "/";
      this.list.hidden = true;
      this.#takeFilters(true);
      this.apply();
    });
    root.addEventListener("pointerdown", (event) => {
      if (event.target === input) return;
      const remove = event.target.closest("[data-remove]");
      const option = event.target.closest("[data-option]");
      event.preventDefault();
      if (remove) this.#remove(Number(remove.dataset.remove));
      else if (option) this.#choose(option.dataset.option);
      else input.focus();
    });
  }

  #onKey(event) {
    const { input } = this;
    const options = [...this.list.querySelectorAll("[data-option]")];
    if (event.key === "Backspace" && input.selectionStart === 0 && input.selectionEnd === 0 && this.filters.length) {
      const opened = this.filters.pop();
      input.value = `${opened}${input.value ? ` ${input.value}` : ""}`;
      input.setSelectionRange(opened.length, opened.length);
      this.#draw();
      this.#complete();
    } else if (event.key === "ArrowDown" && options.length) {
      this.#mark(options, (this.chosen + 1) % options.length);
    } else if (event.key === "ArrowUp" && options.length) {
      this.#mark(options, (this.chosen - 1 + options.length) % options.length);
    } else if ((event.key === "Enter" || event.key === "Tab") && this.chosen >= 0 && options[this.chosen]) {
      this.#choose(options[this.chosen].dataset.option);
    } else if (event.key === "Enter") {
      this.#takeFilters(true);
      this.list.hidden = true;
      this.apply();
    } else if (event.key === "Escape" && !this.list.hidden) {
      this.list.hidden = true;
      this.chosen = -1;
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  }

  /** Turns whole filters into chips; the one that is being typed only where `all` says so. */
  #takeFilters(all) {
    const { input } = this;
    const parts = tokens(input.value);
    const typing = all || /\s$/.test(input.value) ? parts.length : parts.length - 1;
    const taken = parts.filter((part, i) => i < typing && isFilter(part));
    if (taken.length === 0) return;
    this.filters.push(...taken.filter((filter) => !this.filters.includes(filter)));
    input.value = parts.filter((part, i) => !(i < typing && isFilter(part))).join(" ");
    this.#draw();
  }

  #typed() {
    return /\s$/.test(this.input.value) ? "" : (tokens(this.input.value).at(-1) ?? "");
  }

  #complete() {
    const options = document.activeElement === this.input ? completions(this.#typed(), this.seen()) : [];
    this.chosen = -1;
    this.list.hidden = options.length === 0;
    this.input.setAttribute("aria-expanded", String(options.length > 0));
    this.input.removeAttribute("aria-activedescendant");
    fill(
      this.list,
      options.map((option, i) => {
        const [key, value] = splitFilter(option);
        return h("div", { role: "option", id: `option-${i}`, data: { option } }, h("span", { class: "k" }, key), h("span", { class: "v" }, value));
      }),
    );
  }

  #mark(options, at) {
    this.chosen = at;
    options.forEach((option, i) => option.setAttribute("aria-selected", String(i === at)));
    this.input.setAttribute("aria-activedescendant", `option-${at}`);
  }

  #choose(option) {
    const { input } = this;
    input.value = input.value.slice(0, input.value.length - this.#typed().length) + option + (option.endsWith(":") ? "" : " ");
    this.#takeFilters(false);
    input.focus();
    this.#complete();
    this.apply();
  }

  #remove(at) {
    this.filters.splice(at, 1);
    this.#draw();
    this.apply();
  }

  #draw() {
    fill(
      this.chips,
      this.filters.map((filter, i) => {
        const [key, value] = splitFilter(filter);
        const label = `${t("list.remove-filter")}: ${filter}`;
        return h(
          "span",
          { class: "filter" },
          h("span", { class: "k" }, key),
          h("span", { class: "v" }, value),
          h("button", { type: "button", tabindex: "-1", title: label, "aria-label": label, data: { remove: i } }, icon("close")),
        );
      }),
    );
  }

  /** The query as it is now, without a filter that is still being typed. */
  query() {
    const typed = this.#typed();
    const words = tokens(this.input.value).filter((token) => !(token === typed && /^-?[a-z]+:/i.test(token)));
    return [...this.filters, ...words].join(" ");
  }

  /** Says that the query changed, if it did. */
  apply() {
    const query = this.query();
    if (query === this.applied) return;
    this.applied = query;
    this.changed(query);
  }

  /** Shows a query that comes from the address or a segment. */
  set(query) {
    const parts = tokens(query);
    this.filters = parts.filter(isFilter);
    this.input.value = parts.filter((part) => !isFilter(part)).join(" ");
    this.applied = query;
    this.#draw();
  }

  /** `214 of 1,284`, nothing where all are shown. */
  showCount(shown, all) {
    this.count.textContent = this.applied ? t("list.shown-of", { shown, all }) : "";
    this.count.classList.toggle("short", false);
    this.count.dataset.short = this.applied ? number(shown) : "";
  }

  /** Says what is wrong with the query. */
  showProblem(message) {
    this.problem.hidden = !message;
    this.problem.textContent = message ?? "";
    this.root.classList.toggle("wrong", Boolean(message));
  }
}
