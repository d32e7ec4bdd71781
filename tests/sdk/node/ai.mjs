// `streamText` of the Vercel AI SDK: what it accumulates of one step, or the first error that it hands out. No tools are
// given to it, so that every call is handed out as it came.
import { streamText } from "ai";

globalThis.AI_SDK_LOG_WARNINGS = false;

/** The name of the model that is asked for, which this SDK also gives where an answer names none. */
export const MODEL = "asked-for";

export async function read(model, counts = () => ({})) {
  const result = streamText({ model, prompt: "Please answer.", maxRetries: 0, onError() {} });
  for await (const part of result.fullStream) {
    if (part.type === "error") throw part.error;
  }
  const [step] = await result.steps;
  const calls = step.toolCalls
    .filter((call) => !call.providerExecuted)
    .map((call) => ({ id: call.toolCallId, name: call.toolName, arguments: call.input }));
  const { response, usage } = step;
  return {
    // Where an answer has no id, this SDK makes one up.
    id: response.id.startsWith("aitxt-") ? null : response.id,
    model: response.modelId === MODEL ? null : response.modelId,
    text: step.text,
    reasoning: step.reasoningText ?? "",
    calls,
    finish: step.rawFinishReason ?? null,
    usage: { input: usage.inputTokens, output: usage.outputTokens, ...counts(usage) },
  };
}
