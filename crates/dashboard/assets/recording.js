// Whether exchanges are recorded: a line that cannot be overlooked while they are not, and the menu's entry.
import * as api from "./api.js";
import { byId, fill, h } from "./dom.js";
import { toast } from "./shell.js";
import { t } from "./words.js";

let on = true;

/** Shows how it stands: `{on, passed}`. */
export function showRecording(recording) {
  on = recording.on;
  const line = byId("recording");
  line.hidden = on;
  if (on) return;
  fill(
    line,
    h("span", null, t("recording.paused")),
    h("button", { class: "button", type: "button", onclick: () => set(true) }, t("recording.resume")),
  );
}

async function set(wanted) {
  try {
    showRecording(await api.setRecording(wanted));
  } catch (error) {
    toast(t("recording.failed", { why: error.message }));
  }
}

/** The menu's entry: the other state than the one that is. */
export const recordingEntry = () =>
  on
    ? { label: t("recording.pause"), icon: "pause", run: () => set(false) }
    : { label: t("recording.resume"), icon: "play", run: () => set(true) };

/** Asks how it stands. What comes later is told by the live events. */
export async function askRecording() {
  try {
    showRecording(await api.recording());
  } catch {
    // Without an answer the list says so itself.
  }
}
