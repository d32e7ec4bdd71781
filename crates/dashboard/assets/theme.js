// Runs before the first paint (a classic script in the head), so that no page flashes in the wrong theme or language.
(() => {
  const root = document.documentElement;
  const stored = (name) => {
    try {
      return localStorage.getItem(name);
    } catch {
      // Storage may be switched off; the system's settings then decide.
      return null;
    }
  };
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const apply = () => {
    root.dataset.theme = stored("teeline-theme") ?? (dark.matches ? "dark" : "light");
    dispatchEvent(new Event("teeline-theme"));
  };
  apply();
  dark.addEventListener("change", apply);
  addEventListener("storage", apply);

  const language = stored("teeline-language") ?? (/^zh/i.test(navigator.language) ? "zh" : "en");
  if (language !== "zh") return;
  root.lang = "zh-CN";
  // The words of the templates are English until the scripts have run: they are not shown until then.
  root.classList.add("untranslated");
})();
