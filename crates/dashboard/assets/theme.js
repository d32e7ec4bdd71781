// Runs before the first paint (a classic script in the head), so that no page flashes in the wrong theme.
(() => {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const apply = () => {
    let chosen = null;
    try {
      chosen = localStorage.getItem("teeline-theme");
    } catch {
      // Storage may be switched off; the system's setting then decides.
    }
    document.documentElement.dataset.theme = chosen ?? (dark.matches ? "dark" : "light");
    dispatchEvent(new Event("teeline-theme"));
  };
  apply();
  dark.addEventListener("change", apply);
  addEventListener("storage", apply);
})();
