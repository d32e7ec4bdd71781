// `client.responses.stream`.
import OpenAI from "openai";

export const packages = ["openai"];

export function final(baseURL) {
  const client = new OpenAI({ baseURL, apiKey: "none", maxRetries: 0, logLevel: "off" });
  return client.responses.stream({ model: "m", input: "Please answer." }).finalResponse();
}
