// The sentence at the head of a capture, from real values only.
import { NEVER, duration, size } from "./format.js";
import { stateOf, stateOfVerdict } from "./marks.js";
import { howBroken } from "./reason.js";
import { websocketWords } from "./websocket.js";
import { failureOf, sentenceOf, t } from "./words.js";

/** Characters as people count them: a pair of surrogates is one. */
export function characters(text) {
  let n = text.length;
  for (let i = 0; i < text.length; i += 1) {
    const code = text.charCodeAt(i);
    if (code >= 0xdc00 && code < 0xe000) n -= 1;
  }
  return n;
}

const sum = (outputs, of) => outputs.reduce((total, output) => total + of(output), 0);

/** What an answer amounts to: characters, calls, bad arguments. */
export function amounts(reading) {
  const outputs = reading.outputs;
  return {
    choices: outputs.length,
    characters: sum(outputs, (output) => characters(output.text) + characters(output.refusal)),
    reasoning: sum(outputs, (output) => characters(output.reasoning)),
    calls: sum(outputs, (output) => output.tool_calls.length),
    bad: reading.findings.filter((finding) => finding.id === "arguments-not-json" && finding.severity === "error").length,
  };
}

const finding = (reading, id) => reading.findings.find((one) => one.id === id);
const where = (frames) => (frames > 0 ? t("verdict.after-frame", { frame: frames - 1 }) : t("verdict.before-frames"));
const lowerFirst = (text) => text.charAt(0).toLowerCase() + text.slice(1);

function answerWords({ choices, characters: n, calls }) {
  const parts = [];
  if (choices > 1) parts.push(t("verdict.choices", { n: choices, characters: n }));
  else if (n > 0) parts.push(t("verdict.one-answer", { characters: n }));
  else parts.push(calls > 0 ? t("verdict.no-text") : t("verdict.no-answer"));
  if (calls > 0) parts.push(t("verdict.calls", { n: calls }));
  return parts.join(t("verdict.list"));
}

function finishedWords(reading, counts) {
  if (reading.websocket) return [{ text: websocketWords(reading.websocket) }];
  if (reading.format === "unknown") return [{ text: t("verdict.not-a-stream", { size: size(reading.counts.bytes) }) }];
  const found = amounts(reading);
  const pieces = [{ text: `${answerWords(found)}${t("verdict.then")}` }];
  if (found.bad > 0) pieces.push({ text: `${t("verdict.bad-arguments", { n: found.bad })}${t("verdict.stop")}`, tone: "red" });
  else if (counts.error + counts.warning + counts.note > 0) pieces.push({ text: `${t("verdict.findings", counts)}${t("verdict.stop")}` });
  else pieces.push({ text: `${t("verdict.nothing-wrong")}${t("verdict.stop")}` });
  return pieces;
}

function openWords(reading, quiet) {
  const found = amounts(reading);
  const { frames } = reading.counts;
  let text = t("verdict.sent");
  if (found.characters > 0) text = t("verdict.so-far", { characters: found.characters, frames });
  else if (found.calls > 0) text = t("verdict.tools-so-far", { calls: found.calls, frames });
  else if (frames > 0) text = t("verdict.frames-so-far", { frames });
  const pieces = [{ text }];
  if (quiet >= 1000 && frames > 0) pieces.push({ text: ` ${t("verdict.no-frame-for", { time: duration(quiet) })}`, tone: "amber" });
  return pieces;
}

/** Why a stream that ended without its end did so, as far as the reading knows. */
function brokenWords(reading, pasted) {
  if (reading.error) {
    const type = reading.error.type ?? reading.error.code;
    return type ? t("verdict.error", { type, message: reading.error.message }) : reading.error.message;
  }
  const cut = finding(reading, "cut");
  if (cut && cut.frame !== null) return t(pasted ? "verdict.paste-cut" : "verdict.cut", { frame: cut.frame });
  const worst = ["too-large", "no-end"].map((id) => finding(reading, id)).find(Boolean);
  return worst ? lowerFirst(sentenceOf(worst)) : t("verdict.no-end");
}

function partialWords(reading) {
  const ids = ["no-start", "block-open", "block-unstarted", "block-restarted"];
  const worst = ids.map((id) => finding(reading, id)).find(Boolean);
  return worst ? lowerFirst(sentenceOf(worst)) : t("verdict.piece");
}

function upstreamWords(summary) {
  const word = howBroken(summary);
  let how = t("verdict.upstream-how", { how: word });
  if (word === "reset") how = t("verdict.upstream-reset");
  if (word === "closed" || !word) how = t("verdict.upstream-closed");
  return t("verdict.upstream", { how, where: where(summary.frames), time: endTime(summary) });
}

const endTime = (summary) => (summary.duration_ms === null ? NEVER : duration(summary.duration_ms));

function failedWords(summary, reading, ending) {
  if (summary.state === "failed") {
    const why = ending?.failed ? t("verdict.why", { why: failureOf(ending.failed.kind, ending.failed.message), kind: ending.failed.kind }) : (summary.end_reason ?? "");
    return summary.status ? t("verdict.no-response", { why, status: summary.status }) : t("verdict.no-response-alone", { why });
  }
  const status = t("verdict.status", { status: summary.status });
  if (!reading.error) return status;
  const { type, message } = reading.error;
  return t("verdict.status-error", { status: summary.status, error: type ? t("verdict.error", { type, message }) : message });
}

/**
 * @param {{ summary: any, reading: any, ending?: any, counts: any, quiet?: number }} capture `summary` is null for a
 *   pasted stream; `quiet`: milliseconds since the newest frame
 * @returns {{ mark: string, lead: string, pieces: { text: string, tone?: string }[] }}
 */
export function verdict({ summary, reading, ending, counts, quiet = 0 }) {
  const mark = summary ? stateOf(summary) : stateOfVerdict(reading.verdict);
  const plain = (text) => [{ text }];
  switch (mark) {
    case "open":
      return { mark, lead: t(reading.counts.frames > 0 ? "verdict.streaming" : "verdict.waiting"), pieces: openWords(reading, quiet) };
    case "failed":
      return { mark, lead: t("verdict.failed"), pieces: plain(failedWords(summary, reading, ending)) };
    case "finished":
      return { mark, lead: t("verdict.finished"), pieces: finishedWords(reading, counts) };
    case "left":
      return { mark, lead: t("verdict.left"), pieces: plain(t("verdict.left-rest", { where: where(summary.frames), time: endTime(summary) })) };
    case "interrupted":
      return { mark, lead: t("verdict.interrupted"), pieces: plain(t("verdict.interrupted-rest", { where: where(summary.frames) })) };
    case "broken": {
      const words = summary?.state === "upstream-broke" ? upstreamWords(summary) : brokenWords(reading, !summary);
      return { mark, lead: t("verdict.broken"), pieces: plain(words) };
    }
    case "partial":
      return { mark, lead: t("verdict.partial"), pieces: plain(partialWords(reading)) };
    default:
      return { mark, lead: t("verdict.empty"), pieces: plain(t("verdict.empty-rest")) };
  }
}
