// The capture that waits to be compared with another, on every page of this tab.
import { toast } from "./shell.js";
import { t } from "./words.js";

const KEY = "teeline-compare";

/** The address of the comparison of two captures; without the second, of the page that asks for it. */
export const compareAddress = (a, b = null) => `/compare?a=${encodeURIComponent(a)}${b ? `&b=${encodeURIComponent(b)}` : ""}`;

/** The marked capture's id. */
export function marked() {
  try {
    return sessionStorage.getItem(KEY);
  } catch {
    return null;
  }
}

function remember(id) {
  try {
    if (id === null) sessionStorage.removeItem(KEY);
    else sessionStorage.setItem(KEY, id);
  } catch {
    // Without storage the compare page asks for both.
  }
}

/** Marks a capture as A; with one marked before, opens the comparison; the same again takes the mark off. */
export function mark(id) {
  const first = marked();
  if (first === id) {
    remember(null);
    toast(t("compare.unmarked"));
  } else if (first) {
    remember(null);
    location.assign(compareAddress(first, id));
  } else {
    remember(id);
    toast(t("compare.marked"));
  }
}

/** Opens the comparison of a capture with the marked one, or asks for the other. */
export function compareWith(id) {
  const first = marked();
  remember(null);
  location.assign(first && first !== id ? compareAddress(first, id) : compareAddress(id));
}
