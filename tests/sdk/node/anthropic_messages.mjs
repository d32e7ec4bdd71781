// `client.beta.messages.stream`: the accumulator that knows all block types.
import Anthropic from "@anthropic-ai/sdk";

export const packages = ["@anthropic-ai/sdk"];
const request = { model: "m", max_tokens: 1, messages: [{ role: "user", content: "Please answer." }] };

export function final(baseURL) {
  const client = new Anthropic({ baseURL, apiKey: "none", maxRetries: 0, logLevel: "off" });
  return client.beta.messages.stream(request).finalMessage();
}
