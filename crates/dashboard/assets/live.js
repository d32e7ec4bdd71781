// Live events: one EventSource, closed while the tab is hidden, opened again with a growing wait when the
// connection is lost. Browsers allow six connections an origin, and pages need some: of many tabs that are
// visible some keep theirs, and the others look in turn.
import { place, take } from "./places.js";

const WAITS = [1, 2, 4, 8, 15, 30];
/** A tab without a place: how long it looks, and how long it waits until it looks again, in milliseconds. */
const LOOK = 300;
const BETWEEN_LOOKS = 1500;

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
  /** Gives the place back. @type {(() => void) | null} */
  let leave = null;
  let waiting = new AbortController();
  let round = 0;
  let timer = 0;
  let failures = 0;
  let everOpened = false;
  let stopped = false;

  const close = () => {
    round += 1;
    clearTimeout(timer);
    source?.close();
    source = null;
    leave?.();
    leave = null;
    waiting.abort();
  };

  const lost = () => {
    close();
    const wait = WAITS[Math.min(failures, WAITS.length - 1)];
    failures += 1;
    timer = setTimeout(open, wait * 1000);
    handlers.lost?.(wait, open);
  };

  async function open() {
    close();
    const mine = round;
    const wanted = () => mine === round && !stopped && !document.hidden;
    if (!wanted()) return;
    const lasting = await place();
    if (!wanted()) return void lasting?.();
    waiting = new AbortController();
    const left = lasting ?? (await take("look", waiting.signal));
    if (wanted()) connect(left, !lasting);
    else left();
  }

  const rest = () => {
    close();
    timer = setTimeout(open, BETWEEN_LOOKS);
  };

  function connect(left, brief) {
    leave = left;
    source = new EventSource(path);
    source.addEventListener("open", () => {
      failures = 0;
      handlers.opened?.(everOpened);
      everOpened = true;
    });
    // A capture's stream begins with its reading; the list is asked for when its stream is open.
    const enough = handlers.events.capture ? "open" : "reading";
    if (brief) source.addEventListener(enough, () => (timer = setTimeout(rest, LOOK)), { once: true });
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
