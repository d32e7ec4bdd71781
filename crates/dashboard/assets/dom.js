// Building elements. Text only ever becomes a text node: nothing captured is parsed as HTML.

const SVG = "http://www.w3.org/2000/svg";

/**
 * Makes an element: `h("button", {class: "button", onclick: f, "aria-label": "…"}, "text", child)`.
 * A value of `false`, `null` or `undefined` leaves the attribute or the child out.
 * @param {string} tag
 * @param {Record<string, any> | null} [attributes]
 * @param {...any} children
 * @returns {HTMLElement}
 */
export function h(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === false || value === null || value === undefined) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "data") Object.assign(element.dataset, value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  append(element, children);
  return element;
}

/** Appends nodes and texts, flattening lists and leaving out what is not there. */
export function append(element, children) {
  for (const child of children.flat(2)) {
    if (child === false || child === null || child === undefined) continue;
    element.append(child instanceof Node ? child : String(child));
  }
  return element;
}

/** A sentence whose words in backticks are set as what was on the wire. */
export const prose = (sentence) => sentence.split(/\x60([^\x60]+)\x60/).map((part, i) => (i % 2 ? h("code", null, part) : part));

/** Replaces everything in `element`. */
export function fill(element, ...children) {
  element.replaceChildren();
  return append(element, children);
}

/** A symbol of the sprite that stands in the page. */
export function symbol(id, className) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("class", className);
  svg.setAttribute("aria-hidden", "true");
  const use = document.createElementNS(SVG, "use");
  use.setAttribute("href", `#${id}`);
  svg.append(use);
  return svg;
}

/** An icon in the colour of the text around it. */
export const icon = (name, small = true) => symbol(`i-${name}`, small ? "icon small" : "icon");

/** Writes only what changed: the layout of a row that says the same is not touched. */
export function text(element, value) {
  const wanted = value ?? "";
  if (element.textContent !== wanted) element.textContent = wanted;
}

/** The element with this id. The templates have it. */
export const byId = (id) => /** @type {HTMLElement} */ (document.getElementById(id));

/**
 * Calls `work` once in the next animation frame, however often it is asked for until then.
 * @param {() => void} work
 */
export function perFrame(work) {
  let asked = false;
  return () => {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => {
      asked = false;
      work();
    });
  };
}

/** Calls `work` with the last arguments when nothing was asked for `wait` milliseconds. */
export function debounce(work, wait) {
  let timer = 0;
  return (...args) => {
    clearTimeout(timer);
    timer = setTimeout(() => work(...args), wait);
  };
}

/** Calls `work` at most once every `wait` milliseconds, at once the first time, and once more at the end. */
export function throttle(work, wait) {
  let last = -Infinity;
  let timer = 0;
  return () => {
    if (timer) return;
    const run = () => {
      timer = 0;
      last = performance.now();
      work();
    };
    const due = last + wait - performance.now();
    if (due <= 0) run();
    else timer = setTimeout(run, due);
  };
}

/** Whether keys typed at `target` are meant for a text field. */
export const isTyping = (target) =>
  target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));
