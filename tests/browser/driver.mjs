// Drives a real Chromium for the tests: a command a line on standard input, an answer a line on standard output.
// The tests decide when; this file only carries out. A command's name and parameters are those of `commands` below.
// Each test opens a profile of its own in the browser, which serves one test after another.
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { createInterface } from "node:readline";
import { chromium } from "playwright-core";

const axeSource = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const browser = await chromium.launch({
  executablePath: process.argv[2],
  args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
    // A new process for every page would be most of a page's cost.
    "--disable-features=ProactivelySwapBrowsingInstance"],
});
// Long, since a loaded machine is slow and no fault of a page.
const PATIENCE = 120_000;
const PROFILE = { viewport: { width: 1440, height: 900 }, locale: "en-US", colorScheme: "light", permissions: ["clipboard-read", "clipboard-write"] };

let context = null;
/** The page that commands are about. @type {import("playwright-core").Page} */
let page = null;

/** Requests that are kept back. @type {import("playwright-core").Route[]} */
const kept = [];

// Everything that a page should never do: errors, CSP reports, requests to another origin.
const problems = [];
let origin = null;
function watch(opened) {
  opened.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") problems.push(`console ${message.type()}: ${message.text()}`);
  });
  opened.on("pageerror", (error) => problems.push(`page error: ${error.message}`));
  opened.on("request", (request) => {
    const url = new URL(request.url());
    if (origin && url.origin !== origin && !["data:", "blob:", "about:"].includes(url.protocol)) problems.push(`request to ${request.url()}`);
  });
}

/** In every page, before its own scripts: tasks that hold it up for longer than 50 ms, and what the policy refused. */
function prepare() {
  globalThis.longTasks = [];
  new PerformanceObserver((list) => globalThis.longTasks.push(...list.getEntries().map((entry) => Math.round(entry.duration)))).observe({ type: "longtask", buffered: true });
  addEventListener("securitypolicyviolation", (event) => console.error(`the policy refused ${event.blockedURI} (${event.violatedDirective})`));
}

/** Clicks and keys since they were asked for. */
let actions = 0;
const first = (selector) => page.locator(selector).first();
/** A point of an element, in shares of its width and height. */
async function point(selector, [x, y]) {
  const box = await first(selector).boundingBox();
  return [box.x + box.width * x, box.y + box.height * y];
}

/** Asks until it is true, from outside: the pages' policy lets nothing evaluate a text inside. */
async function until(question, parameters) {
  const end = Date.now() + PATIENCE;
  for (;;) {
    try {
      if (await page.evaluate(question, parameters)) return;
    } catch (error) {
      // Between two pages, or before an element is there, it is not true yet.
      if (!/context was destroyed|navigat|of (null|undefined)/i.test(error.message)) throw error;
    }
    if (Date.now() > end) throw new Error("it did not become true");
    await new Promise((done) => setTimeout(done, 25));
  }
}

const commands = {
  async open() {
    context = await browser.newContext(PROFILE);
    context.setDefaultTimeout(PATIENCE);
    context.on("page", watch);
    await context.addInitScript(prepare);
    page = await context.newPage();
    [actions, origin] = [0, null];
    problems.length = kept.length = 0;
  },
  /** Goes to a tab by its number, which the next one that is new has after the others. */
  async tab({ number }) {
    page = context.pages()[number] ?? (await context.newPage());
    await page.bringToFront();
  },
  async rest() { await context.close(); },
  async goto({ url }) { origin = new URL(url).origin; await page.goto(url); },
  /** Keeps requests back until they are let go. */
  async keep_back({ url }) { await page.route(url, (route) => void kept.push(route)); },
  async let_go() {
    for (const route of kept.splice(0)) await route.continue();
    await page.unrouteAll();
  },
  async reload() { await page.reload(); },
  async back() { await page.goBack(); },
  async forward() { await page.goForward(); },
  async wait({ selector }) { await first(selector).waitFor(); },
  async wait_text({ selector, text }) {
    await until(([s, t]) => [...document.querySelectorAll(s)].some((e) => (e.matches("input, textarea") ? e.value : e.textContent).includes(t)), [selector, text]);
  },
  async wait_count({ selector, count }) { await until(([s, n]) => document.querySelectorAll(s).length === n, [selector, count]); },
  async until({ expression }) { await until(expression); },
  async text({ selector }) { return first(selector).textContent(); },
  async texts({ selector }) { return page.locator(selector).allTextContents(); },
  async count({ selector }) { return page.locator(selector).count(); },
  async click({ selector }) { actions += 1; await first(selector).click(); },
  async click_at({ selector, at }) { actions += 1; await page.mouse.click(...(await point(selector, at))); },
  async hover({ selector, at = [0.5, 0.5] }) { await page.mouse.move(...(await point(selector, at))); },
  async hold({ selector, at = [0.5, 0.5] }) { await page.mouse.move(...(await point(selector, at))); await page.mouse.down(); },
  async release() { await page.mouse.up(); },
  async drag({ selector, from, to }) {
    actions += 1;
    await page.mouse.move(...(await point(selector, from)));
    await page.mouse.down();
    await page.mouse.move(...(await point(selector, to)), { steps: 8 });
    await page.mouse.up();
  },
  async wheel({ selector, at = [0.5, 0.5], by }) { await page.mouse.move(...(await point(selector, at))); await page.mouse.wheel(0, by); },
  async press({ keys }) { actions += 1; await page.keyboard.press(keys); },
  async type({ text }) { await page.keyboard.type(text); },
  async fill({ selector, text }) { await first(selector).fill(text); },
  async select({ selector, value }) { actions += 1; await first(selector).selectOption(value); },
  async clipboard() { return page.evaluate(() => navigator.clipboard.readText()); },
  async set_clipboard({ text }) { await page.evaluate((value) => navigator.clipboard.writeText(value), text); },
  async download({ selector }) {
    actions += 1;
    const [download] = await Promise.all([page.waitForEvent("download"), first(selector).click()]);
    return { name: download.suggestedFilename(), text: await readFile(await download.path(), "utf8") };
  },
  async evaluate({ expression }) { return page.evaluate(expression); },
  async viewport({ width, height }) { await page.setViewportSize({ width, height }); },
  async motion({ reduced }) { await page.emulateMedia({ reducedMotion: reduced ? "reduce" : "no-preference" }); },
  async theme({ scheme }) { await page.emulateMedia({ colorScheme: scheme }); },
  async screenshot({ path }) { await page.screenshot({ path, animations: "disabled" }); },
  async axe() {
    await page.evaluate(axeSource);
    const { violations } = await page.evaluate(() => axe.run(document, { resultTypes: ["violations"] }));
    return violations.flatMap((rule) => rule.nodes.map((node) => `${rule.id}: ${node.target.join(" ")}: ${node.failureSummary?.replace(/\s+/g, " ")}`));
  },
  async actions() { return [actions, (actions = 0)][0]; },
  async url() { return page.url(); },
  async problems() { return problems.splice(0); },
};

for await (const line of createInterface({ input: process.stdin })) {
  const { command, ...parameters } = JSON.parse(line);
  if (command === "close") break;
  let answer;
  try {
    answer = { ok: (await commands[command](parameters)) ?? null };
  } catch (error) {
    answer = { error: `${command} ${JSON.stringify(parameters)}: ${error.message}` };
  }
  process.stdout.write(JSON.stringify(answer) + "\n");
}
await browser.close();
process.exit(0); // standard input may still be open
