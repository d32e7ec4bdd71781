// The dashboard's HTTP API. Every failure is a `Problem` whose message can be shown.

/** What the server answered instead of the thing asked for. */
export class Problem extends Error {
  /**
   * @param {number} status 0: no answer came
   * @param {string} message
   */
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

async function request(path, options = {}) {
  let response;
  try {
    response = await fetch(path, { ...options, credentials: "same-origin", cache: "no-store" });
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new Problem(0, "no answer from teeline");
  }
  if (response.ok) return response;
  let message = `status ${response.status}`;
  try {
    message = (await response.json()).error.message ?? message;
  } catch {
    // Not our own error body: the status has to do.
  }
  throw new Problem(response.status, message);
}

const json = async (path, options) => (await request(path, options)).json();
const capture = (id) => `/api/captures/${encodeURIComponent(id)}`;

/** A page of the list: `{captures, next, counts}`. */
export function list({ q = "", before = null, limit = 200 } = {}, signal) {
  const query = new URLSearchParams({ limit: String(limit) });
  if (q) query.set("q", q);
  if (before !== null) query.set("before", String(before));
  return json(`/api/captures?${query}`, { signal });
}

/** `{summary, request, response, reading, moments, ending}`, and the text that it came as. */
export async function exchange(id) {
  const text = await (await request(capture(id))).text();
  return { value: JSON.parse(text), text };
}

/** `{total, frames}`, without their data unless asked for. */
export const frames = (id, offset, limit, data = false) =>
  json(`${capture(id)}/frames?offset=${offset}&limit=${limit}${data ? "" : "&data=no"}`);

/** The frames' columns from frame `from` on, packed (see frames.rs). */
export const columns = async (id, from) => (await request(`${capture(id)}/columns?from=${from}`)).arrayBuffer();

/** Which frame added which bytes of which part, from frame `from` on. */
export const provenance = (id, from = 0) => json(`${capture(id)}/provenance${from ? `?from=${from}` : ""}`);

/** Bytes of the decoded body. */
export const bytes = async (id, offset, length) =>
  new Uint8Array(await (await request(`${capture(id)}/bytes?offset=${offset}&length=${length}`)).arrayBuffer());

/** The frames in which `q` occurs: `{frames: [index], more}`. */
export const matches = (id, q, signal) => json(`${capture(id)}/matches?q=${encodeURIComponent(q)}`, { signal });

/** Where an export is. */
export const exportPath = (id, kind) => `${capture(id)}/export?as=${kind}`;

/** An export as text. */
export const exportText = async (id, kind) => (await request(exportPath(id, kind))).text();

/** Reads a pasted stream; gives the reading with frames and provenance, and the text that it came as. */
export async function read(body, { format = "", save = false } = {}, signal) {
  const query = new URLSearchParams();
  if (format) query.set("as", format);
  if (save) query.set("save", "1");
  const headers = { "content-type": "application/octet-stream" };
  const text = await (await request(`/api/read?${query}`, { method: "POST", body, signal, headers })).text();
  return { value: JSON.parse(text), text };
}

/** Deletes one; it can be brought back for ten seconds. */
export const remove = (id) => request(capture(id), { method: "DELETE" });

/** Deletes every capture that matches. The answer's `x-teeline-undo` brings them back. */
export const removeMatching = (q) => request(`/api/captures?q=${encodeURIComponent(q)}`, { method: "DELETE" });

/** Brings deleted captures back: those with these ids, or those of a deletion by query. */
export const undelete = (ids, undo = null) =>
  request("/api/captures/undelete", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ ids, undo }),
  });

/** How much the store holds and may hold: `{captures, bytes, limit_bytes, keep_days, oldest}`. */
export const store = () => json("/api/store");

/** Whether exchanges are recorded, and how many passed unrecorded: `{on, passed}`. */
export const recording = () => json("/api/recording");

/** Pauses recording, or lets it go on. */
export const setRecording = (on) =>
  json("/api/recording", {
    method: "PUT",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ on }),
  });

let catalogue = null;

/** What each finding means, why it matters and what to do, by id. Asked for once. */
export function findings() {
  catalogue ??= json("/api/findings").then(
    (answer) => new Map(answer.findings.map((entry) => [entry.id, entry])),
    (error) => {
      catalogue = null;
      throw error;
    },
  );
  return catalogue;
}
