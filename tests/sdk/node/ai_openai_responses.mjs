// Responses through `@ai-sdk/openai`.
import { createOpenAI } from "@ai-sdk/openai";
import { MODEL, read } from "./ai.mjs";

export const packages = ["ai", "@ai-sdk/openai"];

export function final(baseURL) {
  return read(createOpenAI({ baseURL, apiKey: "none" }).responses(MODEL));
}
