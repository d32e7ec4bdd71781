// What a list without captures shows: the lines that point an SDK at the proxy.
import { h, icon } from "./dom.js";
import { stateMark } from "./marks.js";
import { copy, proxyUrl, upstreams } from "./shell.js";
import { t } from "./words.js";

const SHOWN = 5;

/** Upstreams whose API is OpenAI's: the SDK's base URL ends in this. */
const OPENAI_LIKE = {
  openai: "/v1", openrouter: "/v1", groq: "/v1", mistral: "/v1", together: "/v1", xai: "/v1", vllm: "/v1", lmstudio: "/v1", ollama: "/v1", deepseek: "",
};

/**
 * The lines for an upstream. A line is a list of pieces; a piece in brackets is an address.
 * @param {string} name
 */
function lines(name) {
  const base = `${proxyUrl}/${name}`;
  const both = name === "openai" || name === "anthropic";
  const openai = both ? `${proxyUrl}/openai/v1` : `${base}${OPENAI_LIKE[name] ?? "/v1"}`;
  const anthropic = `${proxyUrl}/anthropic`;
  const gemini = `${proxyUrl}/gemini`;
  const has = (wanted) => upstreams.some(([known]) => known === wanted);
  const python = [`client = OpenAI(base_url="`, [openai], `")`];
  const node = ["const client = new OpenAI({ baseURL: \"", [openai], "\" })"];
  const rows = [
    {
      name: t("empty.environment"),
      what: t("empty.environment-for"),
      code: [["export OPENAI_BASE_URL=", [openai]], both && has("anthropic") && ["export ANTHROPIC_BASE_URL=", [anthropic]]],
    },
    {
      name: t("empty.python"),
      what: both ? "openai, anthropic" : "openai",
      code: [python, both && has("anthropic") && [`client = Anthropic(base_url="`, [anthropic], `")`]],
    },
    { name: t("empty.node"), what: "openai, @anthropic-ai/sdk", code: [node] },
    {
      name: t("empty.gemini"),
      what: "google-genai",
      code: [[`client = genai.Client(http_options={"base_url": "`, [gemini], `"})`]],
      needs: "gemini",
    },
    {
      name: t("empty.curl"),
      what: t("empty.any"),
      code: [
        ["curl -N ", [`${openai}/chat/completions`], " \\"],
        [`  -H "Authorization: Bearer $${both ? "OPENAI" : name.toUpperCase().replace(/\W/g, "_")}_API_KEY" \\`],
        [`  -H "Content-Type: application/json" \\`],
        [`  -d '{"model":"gpt-4o-mini","stream":true,"messages":[{"role":"user","content":"Hi"}]}'`],
      ],
    },
  ];
  return rows
    .filter((row) => !row.needs || has(row.needs))
    .map((row) => ({ ...row, code: row.code.filter(Boolean) }));
}

const asText = (line) => line.flat().join("");

/** Fills `root`; gives what copies the n-th line (from 1). */
export function showEmpty(root) {
  const names = upstreams.map(([name]) => name).filter((name) => name !== "anthropic");
  if (names.length === 0) names.push("openai");
  let chosen = names[0];
  const table = h("div", { class: "lines" });
  const picker = h("div", { class: "segments", role: "group", "aria-label": t("empty.upstream") });
  const copies = [];

  const draw = () => {
    copies.length = 0;
    table.replaceChildren(
      ...lines(chosen).map((row) => {
        const button = h("button", { class: "button", type: "button" }, icon("copy"), t("copy"));
        const run = () => copy(row.code.map(asText).join("\n"), button);
        button.addEventListener("click", run);
        copies.push(run);
        const code = row.code.flatMap((line, i) => [
          i > 0 && "\n",
          ...line.map((piece) => (Array.isArray(piece) ? h("span", { class: "address" }, piece[0]) : piece)),
        ]);
        return h("div", { class: "line" }, h("div", null, h("b", null, row.name), h("small", null, row.what)), h("pre", null, code), button);
      }),
    );
    const label = (name) => (name === "openai" && upstreams.some(([known]) => known === "anthropic") ? "openai + anthropic" : name);
    const choose = (name) => {
      chosen = name;
      draw();
    };
    const visible = names.slice(0, SHOWN);
    if (!visible.includes(chosen)) visible[SHOWN - 1] = chosen;
    picker.replaceChildren(
      ...visible.map((name) => h("button", { type: "button", "aria-pressed": String(name === chosen), onclick: () => choose(name) }, label(name))),
      ...(names.length > SHOWN ? [moreOf(names.filter((name) => !visible.includes(name)), choose)] : []),
    );
  };
  draw();

  root.replaceChildren(
    h(
      "div",
      { class: "welcome" },
      h("h2", null, stateMark("open"), t("empty.heading")),
      h("p", null, t("empty.text")),
      h("div", { class: "picker" }, h("span", null, t("empty.upstream")), picker),
      table,
      h(
        "div",
        { class: "below" },
        h("span", null, t("empty.no-key")),
        demoButton(),
        h("span", null, t("empty.demo")),
        h("span", { class: "grow" }),
        h("a", { class: "button", href: "/read" }, icon("file"), t("empty.read")),
      ),
    ),
  );
  return (n) => copies[n - 1]?.();
}

function moreOf(names, choose) {
  const select = h("select", { "aria-label": t("empty.more", { n: names.length }) }, h("option", { value: "" }, t("empty.more", { n: names.length })));
  for (const name of names) select.append(h("option", { value: name }, name));
  select.addEventListener("change", () => select.value && choose(select.value));
  return select;
}

function demoButton() {
  const button = h("button", { class: "button mono", type: "button" }, "teeline demo", icon("copy"));
  button.addEventListener("click", () => copy("teeline demo", button));
  return button;
}
