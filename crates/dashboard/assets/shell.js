// What every page has: theme, the proxy's address, menus, toasts, the banner of a lost connection, the sheet.
import { byId, fill, h, icon } from "./dom.js";
import { language } from "./language.js";
import { openSheet } from "./sheet.js";
import { t, translate } from "./words.js";

/** `list`, `capture`, `read` or `compare`. */
export const page = document.body.dataset.page ?? "";
/** The proxy's URL. */
export const proxyUrl = document.body.dataset.proxy ?? "";
/** The upstreams' names and URLs. @type {[string, string][]} */
export const upstreams = JSON.parse(document.body.dataset.upstreams || "[]");

/** A setting that this browser keeps; storage may be switched off. */
export const setting = {
  get(name) {
    try {
      return localStorage.getItem(`teeline-${name}`);
    } catch {
      return null;
    }
  },
  set(name, value) {
    try {
      localStorage.setItem(`teeline-${name}`, value);
    } catch {
      // It then holds for this page only.
    }
  },
};

/** Light to dark and back. */
export function switchTheme() {
  const root = document.documentElement;
  root.dataset.theme = root.dataset.theme === "dark" ? "light" : "dark";
  setting.set("theme", root.dataset.theme);
  dispatchEvent(new Event("teeline-theme"));
}

/** The page in the other language. The view is in the address, so it comes back as it was. */
function switchLanguage() {
  setting.set("language", language === "zh" ? "en" : "zh");
  dispatchEvent(new Event("teeline-language"));
  location.reload();
}

/**
 * Copies a text, or what `value` gives, and says so on the button for a moment.
 * @param {string | (() => string | Promise<string>)} value
 * @param {HTMLElement | null} [button]
 */
export async function copy(value, button) {
  try {
    await navigator.clipboard.writeText(typeof value === "function" ? await value() : value);
  } catch (error) {
    toast(error instanceof DOMException ? t("copy-failed") : error.message);
    return;
  }
  if (button) showDone(button);
  else toast(t("copied"));
}

function showDone(button) {
  if (button.dataset.busy) return;
  button.dataset.busy = "1";
  const before = [...button.childNodes];
  const { width } = button.getBoundingClientRect();
  const small = width < 40;
  button.style.minWidth = `${width}px`;
  button.classList.add("done");
  fill(button, icon("check"), !small && t("copied"));
  setTimeout(() => {
    button.replaceChildren(...before);
    button.classList.remove("done");
    button.style.minWidth = "";
    delete button.dataset.busy;
  }, 1400);
}

/** A copy button of an icon alone. */
export function copyButton(label, value) {
  const button = h("button", { class: "icon-button tight", type: "button", title: label, "aria-label": label }, icon("copy"));
  button.addEventListener("click", (event) => {
    event.stopPropagation();
    copy(value, button);
  });
  return button;
}

/** Says something at the bottom for a while. Gives what takes it away. */
export function toast(...content) {
  const element = h("div", { class: "toast" }, content);
  byId("toasts").append(element);
  const timer = setTimeout(() => element.remove(), 3500);
  return () => {
    clearTimeout(timer);
    element.remove();
  };
}

/**
 * Says that captures were deleted and offers to bring them back for eight seconds (the store keeps them for ten).
 * @param {number} n
 * @param {() => Promise<any>} bringBack
 */
export function toastUndo(n, bringBack) {
  let left = 8;
  const rest = h("span", { class: "left" }, t("deleted.left", { s: left }));
  const undo = h("button", { class: "link", type: "button" }, t("deleted.undo"));
  const element = h("div", { class: "toast" }, t("deleted", { n }), undo, rest);
  byId("toasts").append(element);
  const stop = () => {
    clearInterval(timer);
    element.remove();
  };
  const timer = setInterval(() => {
    left -= 1;
    rest.textContent = t("deleted.left", { s: left });
    if (left <= 0) stop();
  }, 1000);
  undo.addEventListener("click", () => {
    stop();
    bringBack().catch((error) => toast(error.message));
  });
}

/**
 * A menu under `anchor`. Entries: `{label, what?, icon?, danger?, run}` or `{label, href, what?}` or `null` for a line.
 */
export function openMenu(anchor, entries) {
  document.querySelector(".menu")?.remove();
  const items = entries.map((entry) => {
    if (!entry) return h("hr");
    const content = [entry.icon && icon(entry.icon), entry.label, entry.what && h("span", { class: "what" }, entry.what)];
    const attributes = { role: "menuitem", class: entry.danger ? "danger" : "", tabindex: "-1" };
    if (entry.href) return h("a", { ...attributes, href: entry.href, download: true, onclick: () => close(false) }, content);
    return h("button", { ...attributes, type: "button", onclick: () => (close(true), entry.run()) }, content);
  });
  const menu = h("div", { class: "menu", role: "menu" }, items);
  document.body.append(menu);
  const at = anchor.getBoundingClientRect();
  const below = innerHeight - at.bottom;
  menu.style.left = `${Math.max(8, Math.min(at.right - menu.offsetWidth, innerWidth - menu.offsetWidth - 8))}px`;
  menu.style.top = `${below > menu.offsetHeight + 12 ? at.bottom + 4 : Math.max(8, at.top - menu.offsetHeight - 4)}px`;
  anchor.setAttribute("aria-expanded", "true");

  const focusable = items.filter((item) => item.tagName !== "HR");
  const move = (by) => {
    const here = focusable.indexOf(document.activeElement);
    focusable[(here + by + focusable.length) % focusable.length]?.focus();
  };
  const onKey = (event) => {
    if (event.key === "Escape" || event.key === "Tab") close(true);
    else if (event.key === "ArrowDown" || event.key === "j") move(1);
    else if (event.key === "ArrowUp" || event.key === "k") move(-1);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const onDown = (event) => !menu.contains(event.target) && !anchor.contains(event.target) && close(false);
  function close(focus) {
    menu.remove();
    anchor.setAttribute("aria-expanded", "false");
    document.removeEventListener("keydown", onKey, true);
    document.removeEventListener("pointerdown", onDown, true);
    if (focus) anchor.focus();
  }
  document.addEventListener("keydown", onKey, true);
  document.addEventListener("pointerdown", onDown, true);
  focusable[0]?.focus();
}

/** Asks before something that concerns many. */
export function confirm(question, yes, no) {
  return new Promise((resolve) => {
    const dialog = /** @type {HTMLDialogElement} */ (
      h(
        "dialog",
        { class: "confirm" },
        h("p", null, question),
        h(
          "div",
          { class: "buttons" },
          h("button", { class: "button", type: "button", onclick: () => dialog.close("") }, no),
          h("button", { class: "button danger", type: "button", onclick: () => dialog.close("yes") }, yes),
        ),
      )
    );
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(dialog.returnValue === "yes");
    });
    document.body.append(dialog);
    dialog.showModal();
  });
}

let bannerTimer = 0;

/** Says that the connection was lost, counts down, and offers to try at once. */
export function showLost(wait, retry) {
  clearInterval(bannerTimer);
  const banner = byId("banner");
  let left = wait;
  const words = h("span", null, t("lost.text", { s: left }));
  banner.classList.remove("calm");
  fill(banner, words, h("button", { class: "button", type: "button", onclick: retry }, t("lost.now")));
  banner.hidden = false;
  byId("listening").hidden = true;
  bannerTimer = setInterval(() => {
    left -= 1;
    words.textContent = left > 0 ? t("lost.text", { s: left }) : t("lost.trying");
  }, 1000);
}

/** Takes the banner of the lost connection away, having said what came meanwhile. */
export function showBack(n) {
  clearInterval(bannerTimer);
  const banner = byId("banner");
  byId("listening").hidden = false;
  if (banner.hidden) return;
  banner.classList.add("calm");
  fill(banner, t("lost.back", { n }));
  bannerTimer = setTimeout(() => (banner.hidden = true), 4000);
}

/** The actions that every page has. */
export const commonActions = {
  theme: switchTheme,
  sheet: openSheet,
  "go-captures": () => location.assign("/"),
  "go-read": () => location.assign("/read"),
  search: () => location.assign("/#search"),
  "leave-field": (_which, event) => event.target.blur(),
};

translate(document);
const languageButton = byId("language");
languageButton.textContent = language === "zh" ? "English" : "中文";
languageButton.lang = language === "zh" ? "en" : "zh-CN";
languageButton.addEventListener("click", switchLanguage);
byId("theme").addEventListener("click", switchTheme);
byId("keys").addEventListener("click", openSheet);
byId("copy-proxy").addEventListener("click", (event) => copy(proxyUrl, event.currentTarget));
