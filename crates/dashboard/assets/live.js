// Live events: one EventSource, closed while the tab is hidden (browsers allow six connections an
// origin), opened again with a growing wait when the connection is lost.

const WAITS = [1, 2, 4, 8, 15, 30];

/**
 * Follows `path` until `stop()` is called.
 * @param {string} path
 * @param {{
 *   events: Record<string, (data: any, text: string) => void>,
 *   opened?: (again: boolean) => void,
 *   lost?: (seconds: number, retry: () => void) => void,
 * }} handlers `opened(true)`: something may have been missed since the last event
 */
export function follow(path, handlers) {
  let source = null;
  let timer = 0;
  let failures = 0;
  let everOpened = false;
  let stopped = false;

  const close = () => {
    clearTimeout(timer);
    source?.close();
    source = null;
  };

  const lost = () => {
    close();
    const wait = WAITS[Math.min(failures, WAITS.length - 1)];
    failures += 1;
    timer = setTimeout(open, wait * 1000);
    handlers.lost?.(wait, open);
  };

  function open() {
    close();
    if (stopped || document.hidden) return;
    source = new EventSource(path);
    source.addEventListener("open", () => {
      failures = 0;
      handlers.opened?.(everOpened);
      everOpened = true;
    });
    source.addEventListener("error", lost);
    for (const [name, handle] of Object.entries(handlers.events)) {
      source.addEventListener(name, (event) => handle(JSON.parse(event.data || "null"), event.data));
    }
  }

  const visibility = () => (document.hidden ? close() : open());
  document.addEventListener("visibilitychange", visibility);
  // A page kept for "back" must not keep its connection.
  addEventListener("pagehide", close);
  addEventListener("pageshow", (event) => {
    if (event.persisted) open();
  });
  open();

  return {
    stop() {
      stopped = true;
      close();
      document.removeEventListener("visibilitychange", visibility);
    },
  };
}
