// Images, sound and files inside JSON: a page shows how large they are, never their base64.
import { size } from "./format.js";

/** Data URLs, wherever they stand. JSON may write `/` as `\/`. */
const DATA_URL = /data:([\w.+-]+\\?\/[\w.+-]+)?(?:;[\w.=+-]+)*;base64,([\w+/=\\-]{64,})/g;

/** The fields in which the APIs send base64. Shorter values are shown: they may be words. */
const FIELD = /("(?:data|bytes|b64_json|file_data|image|base64)"\s*:\s*")([\w+/=\\-]{256,})(?=")/g;

/** Ollama's list of images. */
const IMAGES = /("images"\s*:\s*\[)([^\]]{256,})(?=\])/g;
const LISTED = /"([\w+/=\\-]{256,})"/g;

/** What stands in the place of data. */
const INSTEAD = /\[(?:[\w.+-]+\/[\w.+-]+|base64), [\d.,]+ [kMG]?B\]/g;

const instead = (type, data) => `[${type?.replace("\\", "") ?? "base64"}, ${size(Math.floor((data.replace(/\\|=+$/g, "").length * 3) / 4))}]`;

/**
 * @param {string} text JSON
 * @returns {string} the same JSON with `[image/png, 16,611 B]` or `[base64, 16,611 B]` in the place of data
 */
export function withoutData(text) {
  return text
    .replace(DATA_URL, (_, type, data) => instead(type, data))
    .replace(FIELD, (_, before, data) => before + instead(undefined, data))
    .replace(IMAGES, (_, before, list) => before + list.replace(LISTED, (_, data) => `"${instead(undefined, data)}"`));
}

/** The sizes that {@link withoutData} put into a text, in order. */
export const dataIn = (text) => text.match(INSTEAD) ?? [];
