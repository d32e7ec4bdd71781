// Places that the tabs of a browser share, by its locks: whoever is gone has given its place back.

/** Tabs that keep a connection. With one that looks, one of the six is left for what pages ask for. */
const LASTING = 4;

/**
 * Takes what one tab may have at a time. Gives what gives it back, or `null` if another has it.
 * @param {string} name
 * @param {AbortSignal} [signal] wait for it, until then
 * @returns {Promise<any>}
 */
export function take(name, signal) {
  return new Promise((resolve) => {
    const hold = (lock) => lock && new Promise((leave) => resolve(() => leave(null)));
    // What gives it back is passed on before this ends; else there was none, or no lock can be had, or is wanted any more.
    navigator.locks.request(`teeline-${name}`, signal ? { signal } : { ifAvailable: true }, hold).then(
      () => resolve(null),
      () => resolve(() => {}),
    );
  });
}

/** Takes a place for a connection that lasts. Browsers have locks on loopback and over TLS only; else each tab has one. */
export async function place() {
  if (!navigator.locks) return () => {};
  for (let n = 0; n < LASTING; n += 1) {
    const leave = await take(`place-${n}`);
    if (leave) return leave;
  }
  return null;
}
