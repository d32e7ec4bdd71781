// A request's body as a conversation: the system prompt, the messages, the tools, the settings, whatever API it is for.
import { dataIn } from "./inlinedata.js";
import { t } from "./words.js";

const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
const json = (value) => JSON.stringify(value, null, 2);

/** Where the APIs keep their conversation and their tools; everything else is a setting. */
const CONVERSATION = ["messages", "input", "contents", "prompt", "system", "instructions", "systemInstruction", "system_instruction", "message", "chat_history", "inputs"];
const TOOLS = ["tools", "functions", "toolConfig"];

function partOf(part) {
  if (typeof part === "string") return { text: part };
  if (!isObject(part)) return { label: typeof part, json: json(part) };
  const keys = Object.keys(part).filter((key) => key !== "type");
  const text = part.text ?? part.thinking ?? (part.type?.includes("text") ? part.content : undefined);
  if (typeof text === "string" && keys.length <= 2) return { text };
  const source = json(part);
  const name = part.name ?? part.functionCall?.name ?? part.functionResponse?.name ?? part.tool_use_id ?? part.call_id ?? "";
  return { label: [part.type ?? keys[0], name, ...dataIn(source)].filter(Boolean).join(" "), json: source };
}

function partsOf(content) {
  if (content === null || content === undefined) return [];
  return (Array.isArray(content) ? content : [content]).map(partOf);
}

function messageOf(message) {
  if (!isObject(message)) return { role: "user", parts: partsOf(message) };
  // Responses items that are no messages: calls, their outputs, reasoning.
  if (!message.role && message.type) return { role: message.type, note: message.name ?? message.call_id, parts: [partOf(message)] };
  const parts = partsOf(message.content ?? message.parts);
  for (const call of message.tool_calls ?? []) {
    parts.push({ label: call.function?.name ?? call.name ?? "tool call", json: call.function?.arguments && typeof call.function.arguments === "string" ? call.function.arguments : json(call) });
  }
  for (const image of message.images ?? []) parts.push({ label: `image ${dataIn(String(image)).join("")}`.trim(), json: json(image) });
  return { role: message.role ?? "user", note: message.name ?? message.tool_call_id, parts };
}

const list = (value) => (Array.isArray(value) ? value : [value]);

function toolOf(tool) {
  const inner = tool.function ?? tool.toolSpec ?? tool;
  return { name: inner.name ?? tool.type ?? "tool", description: String(inner.description ?? "").split("\n")[0].slice(0, 160), json: json(tool) };
}

/**
 * @param {any} body the parsed body, without its data
 * @returns {{ messages: { role: string, note?: string, parts: any[] }[], tools: { name: string, description: string, json: string }[], settings: [string, string][] }}
 */
export function messagesOf(body) {
  if (!isObject(body)) return { messages: [], tools: [], settings: [] };
  const messages = [];
  const system = body.system ?? body.instructions ?? body.systemInstruction ?? body.system_instruction;
  if (system) messages.push({ role: t("request.system"), parts: partsOf(isObject(system) ? (system.parts ?? system) : system) });
  for (const message of body.chat_history ?? []) messages.push(messageOf(message));
  for (const key of ["messages", "input", "contents", "prompt", "message", "inputs"]) {
    const value = body[key];
    if (value === undefined || value === null) continue;
    if (isObject(value) && Array.isArray(value.messages)) messages.push(...value.messages.map(messageOf));
    else messages.push(...list(value).map(messageOf));
  }
  const tools = list(body.tools ?? body.functions ?? body.toolConfig?.tools ?? []).flatMap((tool) => tool?.functionDeclarations ?? tool?.function_declarations ?? [tool]);
  const settings = Object.entries(body)
    .filter(([key]) => !CONVERSATION.includes(key) && !TOOLS.includes(key))
    .map(([key, value]) => [key, typeof value === "string" ? value : JSON.stringify(value)]);
  return { messages, tools: tools.filter(isObject).map(toolOf), settings };
}
