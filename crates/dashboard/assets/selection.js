// What is selected, in one place and in the address: a link opens the same view, back and forward work.

const NUMBERS = ["frame", "finding", "at", "choice"];

/**
 * @typedef {{ frame: number | null, span: [number, number] | null, finding: number | null, at: number | null,
 *   choice: number | null, tab: string, opened: boolean, filter: string, zoom: [number, number] | null }} Selected
 * `span`: frames `[first, last]`; `at`: the answer as it stood at this frame; `opened`: the frame's lines are shown;
 * `filter`: what the frames shown hold; `zoom`: the part of the lane that is shown, in milliseconds
 */

export class Selection {
  constructor() {
    this.listeners = [];
    this.value = this.#read();
    addEventListener("popstate", () => {
      this.value = this.#read();
      this.#tell({ scroll: true, from: "address" });
    });
  }

  /** @returns {Selected} */
  #read() {
    const query = new URLSearchParams(location.search);
    const value = {
      frame: null, span: null, finding: null, at: null, choice: null, zoom: null,
      tab: query.get("tab") ?? "answer", opened: query.has("open"), filter: query.get("filter") ?? "",
    };
    for (const name of NUMBERS) {
      const text = query.get(name);
      if (text !== null && /^\d+$/.test(text)) value[name] = Number(text);
    }
    for (const name of ["span", "zoom"]) {
      const range = /^(\d+)-(\d+)$/.exec(query.get(name) ?? "");
      if (range && Number(range[1]) <= Number(range[2])) value[name] = [Number(range[1]), Number(range[2])];
    }
    return value;
  }

  /** Steps come many in a second; browsers take only so many changes of the address. */
  #writeSoon() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.#write(true), 150);
  }

  #write(replace) {
    clearTimeout(this.timer);
    const query = new URLSearchParams(location.search);
    const { frame, span, finding, at, choice, tab, opened, filter, zoom } = this.value;
    const put = (name, value) => (value === null ? query.delete(name) : query.set(name, String(value)));
    put("frame", frame);
    put("finding", finding);
    put("at", at);
    put("span", span && span.join("-"));
    put("tab", tab === "answer" ? null : tab);
    put("open", opened && frame !== null ? 1 : null);
    put("choice", choice);
    put("filter", filter || null);
    put("zoom", zoom && zoom.join("-"));
    const text = query.toString();
    const address = text ? `?${text}` : location.pathname;
    if (replace) history.replaceState(history.state, "", address);
    else history.pushState(history.state, "", address);
  }

  /** @param {(value: Selected, how: { scroll: boolean, from?: string }) => void} listener */
  onChange(listener) {
    this.listeners.push(listener);
  }

  #tell(how) {
    for (const listener of this.listeners) listener(this.value, how);
  }

  /** Changes what only the address has to know: who changed it has shown it already. */
  note(change) {
    this.value = { ...this.value, ...change };
    this.#writeSoon();
  }

  /**
   * Changes the selection.
   * @param {Partial<Selected>} change
   * @param {{ replace?: boolean, scroll?: boolean, from?: string }} [how] `replace`: no step of its own in the
   *   history; `from`: the pane in which it was done, which need not scroll to it
   */
  set(change, { replace = true, scroll = true, from = "" } = {}) {
    const before = JSON.stringify(this.value);
    this.value = { ...this.value, ...change };
    if (JSON.stringify(this.value) !== before) {
      if (replace) this.#writeSoon();
      else this.#write(false);
    }
    this.#tell({ scroll, from });
  }
}
