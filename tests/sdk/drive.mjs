// Lets a Node SDK read many streams and prints what it made of each.
//
// Argument: the name of an accumulator. First line out: `{"versions": {package: version}}`. Lines in: `{"id", "url"}`,
// a base URL whose every path answers with one stream. Lines out, in the same order: `{"id", "final"}` with the object
// that the SDK itself put together, or `{"id", "raised": {"class", "message", "at"}}` with the SDK's innermost file and line.
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";

const accumulator = await import(`./node/${process.argv[2]}.mjs`);

const versions = Object.fromEntries(
  accumulator.packages.map((name) => {
    const manifest = readFileSync(new URL(`./node_modules/${name}/package.json`, import.meta.url), "utf8");
    return [name, JSON.parse(manifest).version];
  }),
);
console.log(JSON.stringify({ versions }));

/** The innermost line of a package's own code on the way to the error that this one wraps, else to this one. */
function place(error) {
  const lines = [error?.cause, error].flatMap((error) => String(error?.stack ?? "").split("\n"));
  const line = lines.find((line) => line.includes("/node_modules/"));
  return line?.match(/.*\/node_modules\/(.*:\d+):\d+/)?.[1] ?? null;
}

// A rejection that an SDK leaves behind belongs to a stream whose result has been printed already.
process.on("unhandledRejection", () => {});

for await (const line of createInterface({ input: process.stdin })) {
  const { id, url } = JSON.parse(line);
  try {
    console.log(JSON.stringify({ id, final: await accumulator.final(url) }));
  } catch (error) {
    const raised = { class: error?.constructor?.name, message: String(error?.message ?? error), at: place(error) };
    console.log(JSON.stringify({ id, raised }));
  }
}
