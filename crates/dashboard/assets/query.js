// The query's text: words, "phrases" and key:value filters. What it means is the server's business.

/** The keys of contract 4.1 with what can be completed for them. */
export const FILTERS = {
  model: [],
  upstream: [],
  format: [
    "openai-chat", "openai-responses", "anthropic-messages", "gemini", "gemini-interactions", "salyro-behavior", "cumulative",
    "openai-completions", "openai-assistants", "ollama", "cohere", "mistral-conversations", "bedrock-converse", "bedrock-invoke",
    "dashscope", "langserve", "vercel-ui", "vercel-data", "ag-ui", "mcp", "tgi", "llama-cpp",
  ],
  path: [],
  tool: [],
  finding: ["any", "error", "warning"],
  state: ["open", "broken", "ended", "upstream-broke", "client-left", "failed", "interrupted"],
  verdict: ["finished", "did-not-finish", "not-the-whole-stream", "empty"],
  status: ["200", "4xx", "5xx", "404", "429"],
  since: ["10m", "2h", "1d", "7d"],
  until: ["1h", "1d"],
  streamed: ["yes", "no"],
};

/** The filters that the segments stand for. */
export const SEGMENTS = { all: "", open: "state:open", broken: "state:broken", findings: "finding:any" };

const TOKEN = /-?[a-z]+:(?:"[^"]*"?|\S*)|-?"[^"]*"?|\S+/gi;
const FILTER = /^-?([a-z]+):(.+)$/i;

/** The query's pieces, in order. */
export const tokens = (text) => text.match(TOKEN) ?? [];

/** Whether a piece is a whole filter of a known key. */
export function isFilter(token) {
  const match = FILTER.exec(token);
  return Boolean(match && Object.hasOwn(FILTERS, match[1].toLowerCase()));
}

/** A filter as its key (with its minus and colon) and its value. */
export function splitFilter(token) {
  const colon = token.indexOf(":") + 1;
  return [token.slice(0, colon), token.slice(colon)];
}

/** The segment that a list of filters asks for. */
export const segmentOf = (filters) =>
  Object.keys(SEGMENTS).find((name) => name !== "all" && filters.includes(SEGMENTS[name])) ?? "all";

/** The filters without those of the segments. */
export const withoutSegment = (filters) => filters.filter((filter) => !Object.values(SEGMENTS).includes(filter));

/** Today and the day before, as the server takes dates: where teeline runs, which is here. */
function days(key) {
  if (key !== "since" && key !== "until") return [];
  return [0, 1].map((ago) => {
    const day = new Date();
    day.setDate(day.getDate() - ago);
    return [day.getFullYear(), day.getMonth() + 1, day.getDate()].map((part) => String(part).padStart(2, "0")).join("-");
  });
}

/**
 * What could stand where `token` is being typed: whole tokens, at most ten.
 * @param {string} token
 * @param {Record<string, string[]>} seen values that the list has shown, by key
 */
export function completions(token, seen) {
  const minus = token.startsWith("-") ? "-" : "";
  const typed = token.slice(minus.length).toLowerCase();
  const colon = typed.indexOf(":");
  if (colon < 0) {
    if (!typed && !minus) return [];
    return Object.keys(FILTERS).filter((key) => key.startsWith(typed)).map((key) => `${minus}${key}:`);
  }
  const key = typed.slice(0, colon);
  const value = typed.slice(colon + 1).replace(/^"/, "");
  if (!Object.hasOwn(FILTERS, key)) return [];
  const values = new Set([...(seen[key] ?? []), ...FILTERS[key], ...days(key)]);
  return [...values]
    .filter((known) => known.toLowerCase().includes(value) && known.toLowerCase() !== value)
    .slice(0, 10)
    .map((known) => `${minus}${key}:${/\s/.test(known) ? `"${known}"` : known}`);
}
