// Drives a real Chromium for the tests: a command a line on standard input, an answer a line on standard output.
// The tests decide when; this file only carries out. Commands: goto, wait, wait_text, wait_count, text, texts, count,
// click, press, fill, evaluate, viewport, theme, screenshot, problems, close.
import { createInterface } from "node:readline";
import { chromium } from "playwright-core";

const browser = await chromium.launch({
  executablePath: process.argv[2],
  args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync"],
});
const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, permissions: ["clipboard-read", "clipboard-write"] });
const page = await context.newPage();
page.setDefaultTimeout(30_000);

// Everything that a page should never do: errors, CSP reports, requests to another origin.
const problems = [];
let origin = null;
page.on("console", (message) => {
  if (message.type() === "error" || message.type() === "warning") problems.push(`console ${message.type()}: ${message.text()}`);
});
page.on("pageerror", (error) => problems.push(`page error: ${error.message}`));
page.on("request", (request) => {
  const url = new URL(request.url());
  if (origin && url.origin !== origin && !["data:", "blob:", "about:"].includes(url.protocol)) problems.push(`request to ${request.url()}`);
});

const commands = {
  async goto({ url }) { origin = new URL(url).origin; await page.goto(url); },
  async wait({ selector }) { await page.locator(selector).first().waitFor(); },
  async wait_text({ selector, text }) {
    await page.waitForFunction(
      ([s, t]) => [...document.querySelectorAll(s)].some((e) => (e.value ?? e.textContent ?? "").includes(t)), [selector, text]);
  },
  async wait_count({ selector, count }) {
    await page.waitForFunction(([s, n]) => document.querySelectorAll(s).length === n, [selector, count]);
  },
  async text({ selector }) { return page.locator(selector).first().textContent(); },
  async texts({ selector }) { return page.locator(selector).allTextContents(); },
  async count({ selector }) { return page.locator(selector).count(); },
  async click({ selector }) { await page.locator(selector).first().click(); },
  async press({ keys }) { await page.keyboard.press(keys); },
  async fill({ selector, text }) { await page.locator(selector).first().fill(text); },
  async evaluate({ expression }) { return page.evaluate(expression); },
  async viewport({ width, height }) { await page.setViewportSize({ width, height }); },
  async theme({ scheme }) { await page.emulateMedia({ colorScheme: scheme }); },
  async screenshot({ path }) { await page.screenshot({ path }); },
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
