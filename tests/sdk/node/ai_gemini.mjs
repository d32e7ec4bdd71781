// Gemini through `@ai-sdk/google`.
import { createGoogleGenerativeAI } from "@ai-sdk/google";
import { MODEL, read } from "./ai.mjs";

export const packages = ["ai", "@ai-sdk/google"];

export function final(baseURL) {
  const model = createGoogleGenerativeAI({ baseURL, apiKey: "none" })(MODEL);
  // Gemini counts an answer's thoughts apart; this SDK's total has them in it.
  return read(model, (usage) => ({ output: usage.outputTokenDetails.textTokens }));
}
