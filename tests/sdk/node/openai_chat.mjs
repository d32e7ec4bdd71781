// `client.chat.completions.stream`.
import OpenAI from "openai";

export const packages = ["openai"];
const request = { model: "m", messages: [{ role: "user", content: "Please answer." }] };

export function final(baseURL) {
  const client = new OpenAI({ baseURL, apiKey: "none", maxRetries: 0, logLevel: "off" });
  return client.chat.completions.stream(request).finalChatCompletion();
}
