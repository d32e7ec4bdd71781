// What the two sides of a WebSocket said, in words.
import { number } from "./format.js";
import { t } from "./words.js";

/** @param {any} facts a reading's `websocket` */
export function websocketWords(facts) {
  const compressed = facts.from_app.compressed + facts.from_upstream.compressed;
  const words = [t("websocket.said", { app: number(facts.from_app.messages), upstream: number(facts.from_upstream.messages) })];
  if (compressed > 0) words.push(t("websocket.compressed", { n: number(compressed) }));
  const close = facts.closed_by === "app" ? facts.from_app.close : facts.from_upstream.close;
  if (facts.closed_by && close) {
    const code = close.reason ? `${close.code} (${close.reason})` : String(close.code ?? t("websocket.no-code"));
    words.push(t(`websocket.closed-${facts.closed_by}`, { code }));
  }
  return words.join(" ");
}
