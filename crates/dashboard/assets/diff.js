// What differs between two sequences, by content: the shortest way from one to the other (Myers, "An O(ND) difference
// algorithm and its variations", 1986), of lines, of the words in a line, and of JSON values by their place.

/** Steps that are searched; two sequences that differ by more are taken as different from there on. */
const MOST_STEPS = 1500;
/** How long two lines may be for their words to be compared. */
const LONGEST_LINE = 4000;
/** How much two lines must have in common for the words that differ to say more than the whole lines. */
const ALIKE = 0.34;

/**
 * @typedef {{ same: boolean, a: [number, number], b: [number, number] }} Hunk `a` and `b`: from and to in each
 * sequence; of a hunk that is the same both are as long
 */

/** Numbers for values: two that are equal get the same one. */
function numbered(a, b) {
  const known = new Map();
  const number = (value) => {
    let n = known.get(value);
    if (n === undefined) known.set(value, (n = known.size));
    return n;
  };
  return [Int32Array.from(a, number), Int32Array.from(b, number)];
}

/**
 * Aligns two sequences.
 * @param {string[]} a
 * @param {string[]} b
 * @returns {Hunk[]} in order, without holes; hunks that are the same and hunks that differ take turns
 */
export function align(a, b) {
  const [left, right] = numbered(a, b);
  let start = 0;
  while (start < left.length && start < right.length && left[start] === right[start]) start += 1;
  let end = 0;
  while (end < left.length - start && end < right.length - start && left[left.length - 1 - end] === right[right.length - 1 - end]) end += 1;
  const middle = pairs(left.subarray(start, left.length - end), right.subarray(start, right.length - end));
  const matched = [];
  for (let i = 0; i < start; i += 1) matched.push([i, i]);
  for (const [i, k] of middle) matched.push([i + start, k + start]);
  for (let i = end; i > 0; i -= 1) matched.push([left.length - i, right.length - i]);
  return hunks(matched, left.length, right.length);
}

/** The places that belong to each other, in order. */
function pairs(a, b) {
  if (a.length === 0 || b.length === 0) return [];
  const most = Math.min(a.length + b.length, MOST_STEPS);
  const width = 2 * most + 2;
  const ends = new Int32Array(width);
  const trace = [];
  for (let steps = 0; steps <= most; steps += 1) {
    trace.push(ends.slice(most - steps, most + steps + 2));
    for (let k = -steps; k <= steps; k += 2) {
      const down = k === -steps || (k !== steps && ends[most + k - 1] < ends[most + k + 1]);
      let x = down ? ends[most + k + 1] : ends[most + k - 1] + 1;
      let y = x - k;
      while (x < a.length && y < b.length && a[x] === b[y]) {
        x += 1;
        y += 1;
      }
      ends[most + k] = x;
      if (x >= a.length && y >= b.length) return back(trace, a.length, b.length);
    }
  }
  return [];
}

function back(trace, lengthA, lengthB) {
  const found = [];
  let [x, y] = [lengthA, lengthB];
  for (let steps = trace.length - 1; steps >= 0; steps -= 1) {
    const ends = trace[steps];
    const at = (k) => ends[steps + k];
    const k = x - y;
    const down = k === -steps || (k !== steps && at(k - 1) < at(k + 1));
    const before = down ? k + 1 : k - 1;
    // Step 0 begins at the start; every other one where the step before it ended.
    const fromX = steps === 0 ? 0 : at(before);
    const fromY = steps === 0 ? 0 : fromX - before;
    const stepX = steps === 0 ? 0 : fromX + (down ? 0 : 1);
    while (x > stepX) {
      x -= 1;
      y -= 1;
      found.push([x, y]);
    }
    x = fromX;
    y = fromY;
  }
  return found.reverse();
}

function hunks(matched, lengthA, lengthB) {
  const list = [];
  let [a, b] = [0, 0];
  const put = (same, toA, toB) => {
    if (toA === a && toB === b) return;
    list.push({ same, a: [a, toA], b: [b, toB] });
    [a, b] = [toA, toB];
  };
  for (let i = 0; i < matched.length; ) {
    put(false, matched[i][0], matched[i][1]);
    let last = i;
    while (last + 1 < matched.length && matched[last + 1][0] === matched[last][0] + 1 && matched[last + 1][1] === matched[last][1] + 1) last += 1;
    put(true, matched[last][0] + 1, matched[last][1] + 1);
    i = last + 1;
  }
  put(false, lengthA, lengthB);
  return list;
}

const wordsOf = (line) => line.match(/[\p{L}\p{N}_]+|\s+|./gsu) ?? [];

/**
 * What differs within two lines that stand beside each other: ranges of characters in each. `null` where they have so
 * little in common that it is the whole lines.
 * @param {string} a
 * @param {string} b
 * @returns {{ a: [number, number][], b: [number, number][] } | null}
 */
export function within(a, b) {
  if (a.length + b.length > 2 * LONGEST_LINE) return null;
  const [left, right] = [wordsOf(a), wordsOf(b)];
  const found = { a: [], b: [] };
  let [atA, atB, same] = [0, 0, 0];
  for (const hunk of align(left, right)) {
    const lengthA = left.slice(...hunk.a).join("").length;
    const lengthB = right.slice(...hunk.b).join("").length;
    if (hunk.same) same += left.slice(...hunk.a).join("").replace(/\s/g, "").length;
    else {
      if (lengthA) found.a.push([atA, atA + lengthA]);
      if (lengthB) found.b.push([atB, atB + lengthB]);
    }
    atA += lengthA;
    atB += lengthB;
  }
  return same >= ALIKE * Math.max(1, a.replace(/\s/g, "").length, b.replace(/\s/g, "").length) ? found : null;
}

/**
 * Two texts line by line.
 * @param {string} a
 * @param {string} b
 * @returns {{ same: boolean, a: string | null, b: string | null, marks: ReturnType<typeof within> }[]} `null`: the line
 *   is in the other text only
 */
export function lines(a, b) {
  const [left, right] = [a, b].map((text) => (text === "" ? [] : text.split("\n")));
  // A line end at the very end begins no line, unless only one of them has it.
  if (left.at(-1) === "" && right.at(-1) === "") {
    left.pop();
    right.pop();
  }
  const rows = [];
  for (const { same, a: [fromA, toA], b: [fromB, toB] } of align(left, right)) {
    for (let i = 0; i < Math.max(toA - fromA, toB - fromB); i += 1) {
      const [one, two] = [fromA + i < toA ? left[fromA + i] : null, fromB + i < toB ? right[fromB + i] : null];
      rows.push({ same, a: one, b: two, marks: same || one === null || two === null ? null : within(one, two) });
    }
  }
  return rows;
}

const isContainer = (value) => typeof value === "object" && value !== null;
/** A value's text, keys in order of the alphabet: the same content has the same text. */
const canonical = (value) =>
  JSON.stringify(value, (_key, inner) => (isContainer(inner) && !Array.isArray(inner) ? Object.fromEntries(Object.entries(inner).sort(([x], [y]) => (x < y ? -1 : 1))) : inner));

/**
 * Where two JSON values differ. Members of objects are paired by name, elements of arrays by content.
 * @returns {{ path: string, a: any, b: any }[]} `undefined`: not there
 */
export function fields(a, b, path = "") {
  if (canonical(a) === canonical(b)) return [];
  if (Array.isArray(a) && Array.isArray(b)) return elements(a, b, path);
  if (!isContainer(a) || !isContainer(b) || Array.isArray(a) !== Array.isArray(b)) return [{ path, a, b }];
  const names = [...new Set([...Object.keys(a), ...Object.keys(b)])];
  const has = (value, name) => (Object.hasOwn(value, name) ? value[name] : undefined);
  return names.flatMap((name) => fields(has(a, name), has(b, name), path ? `${path}.${name}` : name));
}

function elements(a, b, path) {
  const found = [];
  for (const { same, a: [fromA, toA], b: [fromB, toB] } of align(a.map(canonical), b.map(canonical))) {
    if (same) continue;
    for (let i = 0; i < Math.max(toA - fromA, toB - fromB); i += 1) {
      const [one, two] = [fromA + i < toA ? a[fromA + i] : undefined, fromB + i < toB ? b[fromB + i] : undefined];
      found.push(...fields(one, two, `${path}[${one === undefined ? fromB + i : fromA + i}]`));
    }
  }
  return found;
}
