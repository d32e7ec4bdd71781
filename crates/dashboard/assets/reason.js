// Why a capture ended as it did: the chip of a list row, in at most four words.
import { failureOf, t } from "./words.js";

const where = (what, frames) =>
  frames > 0 ? t("reason.after-frame", { what, frame: frames - 1 }) : t("reason.before", { what });

/** What an upstream did to its connection, in a word: `reset`, `closed`, or as the recorder says it. */
export function howBroken(summary) {
  const how = summary.end_reason ?? "";
  if (/reset/i.test(how)) return "reset";
  if (/clos|eof|short/i.test(how)) return "closed";
  return how;
}

/**
 * The reason as a chip's text and tone, or `alone` where there is no answer that it could stand beside.
 * @returns {{ text: string, tone: "red" | "amber" | "", alone?: boolean } | null}
 */
export function reasonOf(summary, state) {
  const status = summary.status ?? 0;
  switch (state) {
    case "failed":
      if (summary.state === "failed") {
        return { text: failed(summary.end_reason) || t("reason.no-response"), tone: "red", alone: true };
      }
      return { text: String(status), tone: "red" };
    case "broken":
      if (summary.state !== "upstream-broke") {
        // It ended cleanly and lacks its end: an error inside the stream, or an end that was never sent.
        return { text: inFrame(summary.end_reason) || t("reason.no-end"), tone: "red" };
      }
      return { text: where(broken(howBroken(summary)), summary.frames), tone: "red" };
    case "left":
      return { text: where(t("reason.app-left"), summary.frames), tone: "" };
    case "interrupted":
      return { text: t("reason.stopped"), tone: "red" };
    case "partial":
      return { text: t("reason.partial"), tone: "amber" };
    case "empty":
      return { text: t("reason.empty"), tone: "" };
    default:
      return null;
  }
}

/** `overloaded_error in frame 3` */
function inFrame(reason) {
  const [, what, frame] = /^(.*) in frame (\d+)$/.exec(reason ?? "") ?? [];
  return what ? t("reason.in-frame", { what, frame }) : reason;
}

/** `connect-failed: no connection to …` */
function failed(reason) {
  const [, kind, message] = /^([a-z-]+): (.*)$/s.exec(reason ?? "") ?? [];
  return kind ? t("reason.failed", { kind, why: failureOf(kind, message) }) : reason;
}

const broken = (how) => (how === "reset" ? t("reason.reset") : how === "closed" || !how ? t("reason.closed") : how);
