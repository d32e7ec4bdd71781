// Anthropic Messages through `@ai-sdk/anthropic`.
import { createAnthropic } from "@ai-sdk/anthropic";
import { MODEL, read } from "./ai.mjs";

export const packages = ["ai", "@ai-sdk/anthropic"];

export function final(baseURL) {
  const model = createAnthropic({ baseURL, apiKey: "none" })(MODEL);
  // Anthropic counts a prompt's cached tokens apart; this SDK's total has them in it.
  return read(model, (usage) => ({ input: usage.inputTokenDetails.noCacheTokens }));
}
