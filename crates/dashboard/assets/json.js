// JSON as text: numbers keep the digits they came with, and text that is not JSON shows where it stops being it.

const SPACE = /\s/;
const LITERAL = /(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)/y;

/** One past the end of the string that begins at `at`, or -1 if it is not closed; `bad` is set where it breaks. */
function endOfString(text, at, problem) {
  for (let i = at + 1; i < text.length; i += 1) {
    const c = text[i];
    if (c === '"') return i + 1;
    if (c < " ") {
      problem.at = i;
      return -1;
    }
    if (c === "\\") i += 1;
  }
  return -1;
}

/**
 * Looks whether a text is one JSON value.
 * @param {string} text
 * @returns {{ valid: true } | { valid: false, at: number, ends: boolean, opener: number | null }}
 *   `at` characters can be read; `ends`: the text stops there; `opener`: what was never closed
 */
export function check(text) {
  const open = [];
  let i = 0;
  // What may come: a value, a key, a colon, or what follows a value.
  let due = "value";
  const skip = () => {
    while (i < text.length && SPACE.test(text[i])) i += 1;
  };
  const fault = (at, opener) => ({ valid: false, at, ends: at >= text.length, opener: opener ?? open.at(-1)?.at ?? null });
  const after = () => {
    due = open.length === 0 ? "end" : "after";
  };
  for (;;) {
    skip();
    if (i >= text.length) return due === "end" ? { valid: true } : fault(text.length);
    const c = text[i];
    if (due === "end") return { valid: false, at: i, ends: false, opener: null };
    if (due === "after") {
      const top = open.at(-1);
      if (c === ",") due = top.kind === "{" ? "key" : "value";
      else if (c === (top.kind === "{" ? "}" : "]")) {
        open.pop();
        after();
      } else return fault(i);
      i += 1;
    } else if (due === "colon") {
      if (c !== ":") return fault(i);
      due = "value";
      i += 1;
    } else if (c === '"') {
      const problem = { at: text.length };
      const end = endOfString(text, i, problem);
      if (end < 0) return fault(problem.at, i);
      if (due === "key" || due === "first-key") due = "colon";
      else after();
      i = end;
    } else if ((c === "}" && due === "first-key") || (c === "]" && due === "first-value")) {
      open.pop();
      after();
      i += 1;
    } else if (due === "key" || due === "first-key") {
      return fault(i);
    } else if (c === "{" || c === "[") {
      open.push({ kind: c, at: i });
      due = c === "{" ? "first-key" : "first-value";
      i += 1;
    } else {
      LITERAL.lastIndex = i;
      const literal = LITERAL.exec(text)?.[0];
      if (!literal) return fault(i);
      i += literal.length;
      after();
    }
  }
}

/**
 * Indents valid JSON without touching what is in it. `map[i]` is where character `i` of the text went.
 * @param {string} text
 * @returns {{ text: string, map: Uint32Array }}
 */
export function pretty(text) {
  const map = new Uint32Array(text.length + 1);
  const out = [];
  let length = 0;
  let depth = 0;
  const put = (piece) => {
    out.push(piece);
    length += piece.length;
  };
  const line = () => put(`\n${"  ".repeat(depth)}`);
  for (let i = 0; i < text.length; ) {
    const c = text[i];
    map[i] = length;
    if (c === '"') {
      const end = endOfString(text, i, {});
      const stop = end < 0 ? text.length : end;
      for (let k = i; k < stop; k += 1) map[k] = length + (k - i);
      put(text.slice(i, stop));
      i = stop;
      continue;
    }
    if (c === "{" || c === "[") {
      const close = /\S/.exec(text.slice(i + 1, i + 64))?.[0];
      put(c);
      depth += 1;
      if (close !== "}" && close !== "]") line();
    } else if (c === "}" || c === "]") {
      depth -= 1;
      const last = out.at(-1);
      if (last !== "{" && last !== "[") line();
      map[i] = length;
      put(c);
    } else if (c === ",") {
      put(c);
      line();
    } else if (c === ":") {
      put(": ");
    } else if (!SPACE.test(c)) {
      put(c);
    }
    i += 1;
  }
  map[text.length] = length;
  return { text: out.join(""), map };
}

/** One past the end of the value that begins at `at`. */
function endOfValue(text, at) {
  let depth = 0;
  for (let i = at; i < text.length; i += 1) {
    const c = text[i];
    if (c === '"') {
      i = endOfString(text, i, {}) - 1;
      if (i < at) return text.length;
      if (depth === 0) return i + 1;
    } else if (c === "{" || c === "[") depth += 1;
    else if (c === "}" || c === "]") {
      depth -= 1;
      if (depth < 0) return i;
      if (depth === 0) return i + 1;
    } else if (depth === 0 && (c === "," || SPACE.test(c))) return i;
  }
  return text.length;
}

/**
 * The source text of a member of a valid document, such as `["reading", "response"]`; `null` if it is not there.
 * @param {string} text
 * @param {(string | number)[]} path
 */
export function member(text, path) {
  let at = 0;
  const skip = () => {
    while (at < text.length && SPACE.test(text[at])) at += 1;
  };
  for (const wanted of path) {
    skip();
    const array = text[at] === "[";
    if (!array && text[at] !== "{") return null;
    at += 1;
    let index = 0;
    for (;;) {
      skip();
      if (at >= text.length || text[at] === "}" || text[at] === "]") return null;
      let key = index;
      if (!array) {
        const end = endOfString(text, at, {});
        key = JSON.parse(text.slice(at, end));
        at = end;
        skip();
        at += 1;
        skip();
      }
      if (key === wanted) break;
      at = endOfValue(text, at);
      skip();
      at += 1;
      index += 1;
    }
  }
  skip();
  return text.slice(at, endOfValue(text, at));
}

/**
 * Parses valid JSON into nodes that keep every literal's own text and every key in its place, twice if it came twice.
 * @returns {{ kind: "object" | "array", entries: [string | null, any][] } | { kind: "string" | "literal", text: string }}
 */
export function parse(text) {
  let at = 0;
  const skip = () => {
    while (at < text.length && SPACE.test(text[at])) at += 1;
  };
  const string = () => {
    const end = endOfString(text, at, {});
    const source = text.slice(at, end);
    at = end;
    return JSON.parse(source);
  };
  const value = () => {
    skip();
    const c = text[at];
    if (c === '"') return { kind: "string", text: string() };
    if (c !== "{" && c !== "[") {
      const end = endOfValue(text, at);
      const literal = { kind: "literal", text: text.slice(at, end) };
      at = end;
      return literal;
    }
    const node = { kind: c === "{" ? "object" : "array", entries: [] };
    at += 1;
    skip();
    while (at < text.length && text[at] !== "}" && text[at] !== "]") {
      let key = null;
      if (c === "{") {
        key = string();
        skip();
        at += 1;
      }
      node.entries.push([key, value()]);
      skip();
      if (text[at] === ",") at += 1;
      skip();
    }
    at += 1;
    return node;
  };
  return value();
}
