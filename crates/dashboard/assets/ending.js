// How a stream ended where that was no clean end: the words for the answer, the frames and the lane.
import * as api from "./api.js";
import { h, icon } from "./dom.js";
import { duration } from "./format.js";
import { stateMark, stateOf } from "./marks.js";
import { howBroken } from "./reason.js";
import { copy } from "./shell.js";
import { milestoneTime } from "./lane.js";
import { t } from "./words.js";

/** The milestones of the lane that a connection has by itself. */
export function milestones({ summary, moments, reading, source, end, ending, now }, span, width) {
  const marks = [];
  const pixels = (ms) => (ms / (span[1] - span[0])) * width;
  const first = summary?.first_byte_ms ?? reading.timing?.first_byte_ms ?? null;
  const text = summary?.first_text_ms ?? reading.timing?.first_text_ms ?? null;
  if (moments?.sent_us != null) marks.push({ at: 0, label: t("lane.sent") });
  const headers = moments?.response_us == null ? null : moments.response_us / 1000;
  if (headers !== null && first !== null && Math.abs(pixels(first - headers)) < 40) {
    marks.push({ at: headers, label: t("lane.headers-first", { time: milestoneTime(first) }) });
  } else {
    if (headers !== null) marks.push({ at: headers, label: t("lane.headers") });
    if (first !== null && moments?.sent_us != null) marks.push({ at: first, label: t("lane.first-byte", { time: milestoneTime(first) }) });
  }
  if (text !== null) marks.push({ at: text, label: t("lane.first-text", { time: milestoneTime(text) }) });
  const tool = firstTool(source);
  if (tool !== null) marks.push({ at: tool, label: t("lane.first-tool", { time: milestoneTime(tool) }) });
  if (summary?.state === "open") marks.push({ at: now, label: t("lane.now", { time: duration(now, { exact: true }) }), tone: "live", strong: true, dot: true });
  else if (end !== null) marks.push(ending?.broken ? { at: end, label: ending.lane, tone: "err", strong: true } : { at: end, label: ending?.lane ?? t("lane.end") });
  return marks;
}

function firstTool(source) {
  const tool = 4;
  for (let i = 0; i < source.count; i += 1) {
    if (source.kind[i] === tool && source.added[i] > 0 && !Number.isNaN(source.at[i])) return source.at[i];
  }
  return null;
}

/**
 * @param {any} summary `null` for a pasted stream
 * @param {any} reading
 * @param {{ end: number | null, source: any, partial: () => string }} how
 */
export function endingOf(summary, reading, { end, source, partial }) {
  if (!summary) {
    const cut = reading.findings.some((finding) => finding.id === "cut" || finding.id === "too-large");
    return cut ? { broken: true, lane: t("lane.text-ends") } : null;
  }
  if (summary.state === "open" || summary.state === "ended" || summary.state === "failed") return null;
  const finished = summary.verdict === "finished";
  const time = end === null ? "" : milestoneTime(end);
  const words = wordsOf(summary, time);
  const last = source.count ? source.at[source.count - 1] : null;
  const ending = {
    broken: !finished && summary.state !== "client-left",
    mark: finished ? "finished" : stateOf(summary),
    time: end === null ? "" : (end / 1000).toFixed(2),
    lane: words.lane,
    row: words.row,
    rowTime: last === null || end === null ? "" : `${(end / 1000).toFixed(3)} · ${t("frames.end-after", { time: duration(end - last) })}`,
  };
  ending.markNode = () => stateMark(ending.mark === "finished" ? "broken" : ending.mark);
  // After a finished answer a late reset is a note, not an alarm in the answer.
  if (finished) return { ...ending, lane: words.lane };
  const kept = t("answer.kept", { bytes: summary.bytes, frames: summary.frames });
  const same = summary.state === "upstream-broke" && summary.bytes === summary.bytes_to_app ? t("answer.same") : "";
  const copyText = h("button", { class: "button", type: "button" }, icon("copy"), t("answer.copy-partial"));
  copyText.addEventListener("click", () => copy(partial, copyText));
  const exportRaw = h("a", { class: "button", href: api.exportPath(summary.id, "raw"), download: true }, icon("export"), t("answer.export-raw"));
  return { ...ending, words: words.answer, kept: kept + same, actions: [copyText, exportRaw] };
}

function wordsOf(summary, time) {
  if (summary.state === "client-left") return { answer: t("answer.left"), row: t("frames.end-left"), lane: t("lane.left", { time }) };
  if (summary.state === "interrupted") return { answer: t("answer.stopped"), row: t("frames.end-stopped"), lane: t("lane.stopped", { time }) };
  const how = howBroken(summary);
  if (how === "reset") return { answer: t("answer.broke-reset"), row: t("frames.end-reset"), lane: t("lane.reset", { time }) };
  return { answer: t("answer.broke"), row: t("frames.end-broke"), lane: t(how === "closed" ? "lane.closed" : "lane.broke", { time }) };
}
