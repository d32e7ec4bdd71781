// Chat Completions through `@ai-sdk/openai-compatible`, which also knows what other vendors add.
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { MODEL, read } from "./ai.mjs";

export const packages = ["ai", "@ai-sdk/openai-compatible"];

export function final(baseURL) {
  return read(createOpenAICompatible({ name: "test", baseURL, apiKey: "none" })(MODEL));
}
