// The language of the pages: theme.js chose it before the first paint and wrote it on the root.

/** `en` or `zh`. */
export const language = globalThis.document?.documentElement.lang.startsWith("zh") ? "zh" : "en";
/** The same as the browser's own formatters know it. English dates are written day first. */
export const locale = language === "zh" ? "zh-CN" : "en-GB";
