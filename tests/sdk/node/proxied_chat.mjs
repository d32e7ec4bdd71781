// Streams a chat completion with the official Node SDK and prints the object that the SDK itself assembled.
// Arguments: the base URL. Standard input: the request as JSON.
import { readFileSync } from "node:fs";
import OpenAI from "openai";

const client = new OpenAI({ baseURL: process.argv[2], apiKey: "sk-planted-node-secret", maxRetries: 0 });
const stream = client.chat.completions.stream(JSON.parse(readFileSync(0, "utf8")));
console.log(JSON.stringify(await stream.finalChatCompletion()));
