// Runs one client of the table, once, streaming: node clients.mjs NAME PROXY. The model's answer goes to standard output.
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const [name, proxy] = process.argv.slice(2);
const messages = [{ role: "user", content: "Say hello." }];
const show = (text) => process.stdout.write(text ?? "");
const home = () => mkdtempSync(join(tmpdir(), "teeline-client-"));

/** A command-line tool from node_modules, in a home of its own. */
function tool(command, args, env) {
  const path = `${join(import.meta.dirname, "node_modules/.bin")}:${process.env.PATH}`;
  const run = spawnSync(command, args, {
    env: { ...process.env, PATH: path, HOME: home(), ...env },
    stdio: ["ignore", "inherit", "inherit"],
    timeout: 120_000,
  });
  if (run.status !== 0) throw new Error(`${command} ended with ${run.status ?? run.error ?? run.signal}`);
}

const clients = {
  async openai() {
    const { default: OpenAI } = await import("openai");
    const stream = await new OpenAI().chat.completions.create({ model: "gpt-4o-mini", messages, stream: true });
    for await (const chunk of stream) show(chunk.choices[0]?.delta?.content);
  },
  async ai() {
    const { createOpenAI } = await import("@ai-sdk/openai");
    const { streamText } = await import("ai");
    const openai = createOpenAI({ baseURL: `http://${proxy}/openai/v1` });
    for await (const text of streamText({ model: openai("gpt-4o-mini"), prompt: "Say hello." }).textStream) show(text);
  },
  async anthropic() {
    const { default: Anthropic } = await import("@anthropic-ai/sdk");
    const stream = new Anthropic().messages.stream({ model: "claude-sonnet-4-5", max_tokens: 64, messages });
    stream.on("text", show);
    await stream.finalMessage();
  },
  async google_genai() {
    const { GoogleGenAI } = await import("@google/genai");
    const ai = new GoogleGenAI({ apiKey: process.env.GEMINI_API_KEY });
    const stream = await ai.models.generateContentStream({ model: "gemini-2.5-flash", contents: "Say hello." });
    for await (const chunk of stream) show(chunk.text);
  },
  async mistralai() {
    const { Mistral } = await import("@mistralai/mistralai");
    const client = new Mistral({ apiKey: process.env.MISTRAL_API_KEY, serverURL: `http://${proxy}/mistral` });
    for await (const event of await client.chat.stream({ model: "mistral-small-latest", messages }))
      show(event.data.choices[0].delta.content);
  },
  async cohere() {
    const { CohereClientV2 } = await import("cohere-ai");
    const client = new CohereClientV2({ token: process.env.CO_API_KEY, baseUrl: `http://${proxy}/cohere` });
    for await (const event of await client.chatStream({ model: "command-a-03-2025", messages }))
      if (event.type === "content-delta") show(event.delta?.message?.content?.text);
  },
  async groq() {
    const { default: Groq } = await import("groq-sdk");
    const stream = await new Groq().chat.completions.create({ model: "llama-3.3-70b-versatile", messages, stream: true });
    for await (const chunk of stream) show(chunk.choices[0]?.delta?.content);
  },
  async ollama() {
    const { Ollama } = await import("ollama");
    const client = new Ollama({ host: process.env.OLLAMA_HOST });
    for await (const part of await client.chat({ model: "llama3.2", messages, stream: true })) show(part.message.content);
  },
  async codex() {
    const provider = `{name="teeline",base_url="http://${proxy}/openai/v1",env_key="OPENAI_API_KEY",wire_api="responses"}`;
    const config = ["-c", "model_provider=teeline", "-c", `model_providers.teeline=${provider}`];
    tool("codex", ["exec", "--skip-git-repo-check", "-C", tmpdir(), ...config, "Say hello."], {});
  },
  async continue() {
    const own = home();
    const model = { name: "m", provider: "openai", model: "gpt-4o-mini", apiKey: process.env.OPENAI_API_KEY, apiBase: `http://${proxy}/openai/v1`, roles: ["chat"] };
    // JSON is YAML.
    writeFileSync(join(own, "config.yaml"), JSON.stringify({ name: "t", version: "0.0.1", schema: "v1", models: [model] }));
    tool("cn", ["-p", "Say hello.", "--config", join(own, "config.yaml")], { HOME: own });
  },
  async opencode() {
    const own = home();
    const provider = { openai: { options: { baseURL: `http://${proxy}/openai/v1` } } };
    writeFileSync(join(own, "opencode.json"), JSON.stringify({ provider, autoupdate: false, share: "disabled" }));
    // Its list of models would come from its own server.
    const env = { HOME: own, OPENCODE_CONFIG: join(own, "opencode.json"), OPENCODE_DISABLE_MODELS_FETCH: "1" };
    // Its package for every machine names more of its packages than a registry may have.
    const program = join(import.meta.dirname, "node_modules/opencode-linux-x64-baseline/bin/opencode");
    tool(program, ["run", "-m", "openai/gpt-4o-mini", "Say hello."], env);
  },
  async gemini_cli() {
    // Which way to sign in is asked at the first start; here it has been answered.
    const own = home();
    mkdirSync(join(own, ".gemini"));
    writeFileSync(join(own, ".gemini/settings.json"), '{"security":{"auth":{"selectedType":"gemini-api-key"}}}');
    tool("gemini", ["--skip-trust", "-m", "gemini-2.5-flash", "-p", "Say hello."], { HOME: own });
  },
  async claude_code() {
    tool("claude", ["-p", "Say hello."], { CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1" });
  },
};

await clients[name]();
