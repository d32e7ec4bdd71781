// What the reader of streams says in English, in Chinese: what a frame carried, what a finish reason means. Names that
// were on the wire stay as they are.

/** Words at the start of what a frame carried. */
const CARRIED = {
  text: "正文", reasoning: "思考", refusal: "拒绝", usage: "用量", start: "开始", end: "结束", "keep-alive": "保活", unknown: "未知",
  signature: "签名", citation: "引用", annotation: "标注", created: "已创建", queued: "排队中", in_progress: "进行中", "in progress": "进行中",
  completed: "已完成", failed: "失败", "not JSON": "不是 JSON", "no data": "没有数据", "after the end": "结束之后", "part added": "加入部分",
  "part done": "部分完成", "text done": "正文完成", "arguments done": "参数完成", "reasoning done": "思考完成", "refusal done": "拒绝完成",
  searching: "搜索中", generating: "生成中", interpreting: "解释中", preview: "预览", thread: "线程",
};

/** Things that are opened and closed. */
const THINGS = {
  block: "块", step: "步骤", "output item": "输出项", "function call": "函数调用", "tool call": "工具调用", "tool execution": "工具执行",
  content: "内容", citation: "引用", message: "消息", handoff: "转交", choice: "选项", candidate: "候选", run: "运行", answer: "回答", completion: "补全",
  interaction: "交互", response: "响应", event: "事件",
};
const THING = Object.keys(THINGS).sort((a, b) => b.length - a.length).join("|");
const DEEDS = { opened: "打开", closed: "关闭", done: "完成" };

const PATTERNS = [
  [/^tool (\d+) args \+(.*)$/, (_, call, more) => `工具 ${call} 参数 +${more}`],
  [/^tool (\d+) (.*)$/, (_, call, name) => `工具 ${call} ${name}`],
  [/^finish (.*)$/, (_, reason) => `结束原因 ${reason}`],
  [/^status (.*)$/, (_, status) => `状态 ${status}`],
  [/^role (.*)$/, (_, role) => `角色 ${role}`],
  [/^error: (.*)$/s, (_, message) => `错误：${message}`],
  [new RegExp(`^(${THING}) (\\S+) (.*)$`, "s"), (_, thing, place, rest) => `${THINGS[thing]} ${place} ${DEEDS[rest] ?? one(rest)}`],
  [/^(\S+) \+(\d+)$/, (_, kind, more) => `${CARRIED[kind] ?? kind} +${more}`],
];

function one(words) {
  if (Object.hasOwn(CARRIED, words)) return CARRIED[words];
  const found = PATTERNS.find(([pattern]) => pattern.test(words));
  return found ? words.replace(...found) : words;
}

/** What a frame carried: `text +5, usage`. */
export const carriedOf = (carried) => (carried.startsWith("error: ") ? one(carried) : carried.split(", ").map(one).join("，"));

/** What a finding is about: `choice 0`, `the text of output item 2`, `an end`. */
export function thing(words) {
  const text = String(words);
  const inner = /^(?:the |The )?(text|reasoning|refusal|arguments?) of (.*)$/.exec(text);
  if (inner) return `${thing(inner[2])} 的${{ text: "正文", reasoning: "思考", refusal: "拒绝" }[inner[1]] ?? "参数"}`;
  const known = {
    "an end": "结束标记", "the response": "响应", id: "id", name: "名称", "id and name": "id 和名称", message: "消息", prelude: "前导",
    "`response.completed` or another event that ends it": "`response.completed` 或其他结束事件", "a `finishReason` for every candidate": "每个候选的 `finishReason`",
    "a frame with a `stop_reason`": "带 `stop_reason` 的帧", 'a line with `"done":true`': '带 `"done":true` 的行', "an object": "对象", "a string": "字符串",
    "an array": "数组", "a number or null": "数字或 null", "a number": "数字", "a boolean": "布尔值", missing: "缺失",
  };
  if (Object.hasOwn(known, text)) return known[text];
  const ofCandidate = new RegExp(`^(?:an? )?(${THING}) of (${THING}) (\\S+)$`).exec(text);
  if (ofCandidate) return `${THINGS[ofCandidate[2]]} ${ofCandidate[3]} 的${THINGS[ofCandidate[1]]}`;
  const numbered = new RegExp(`^(${THING}) (\\S+)$`).exec(text);
  return numbered ? `${THINGS[numbered[1]]} ${numbered[2]}` : text;
}

/** What finish reasons mean, by their name in small letters. */
const MEANINGS = {
  stop: "自然结束，或匹配了停止序列。", length: "达到 Token 上限；回答被截断。", tool_calls: "模型要求调用工具。", function_call: "模型要求调用函数。",
  content_filter: "内容过滤器扣留或截断了回答。", content_filtered: "内容过滤器扣留或截断了回答。", end_turn: "模型说完了。", max_tokens: "达到 Token 上限；回答被截断。",
  tool_use: "模型要求调用工具；至少一个调用在等结果。", stop_sequence: "匹配了停止序列。", pause_turn: "模型暂停了这一轮；原样发回即可继续。", refusal: "模型拒绝了回答。",
  model_context_window_exceeded: "模型的上下文窗口用完了；回答被截断。", completed: "自然结束。", incomplete: "回答是真实的，但不完整：它被截断了。", failed: "生成失败；原因见错误。",
  cancelled: "已取消。", in_progress: "仍在生成。", queued: "等待生成。", safety: "回答被标为不安全；正文可能被扣留。", recitation: "回答与已有文本过于接近。",
  other: "因未说明的原因停止。", blocklist: "回答含有禁用词。", prohibited_content: "回答可能含有禁止的内容。", spii: "回答可能含有敏感的个人数据。",
  malformed_function_call: "模型写出了无效的函数调用。", language: "回答会使用不支持的语言。", complete: "自然结束。", error: "生成失败。", tool_call: "模型要求调用工具。",
  eos_token: "模型写出了结束标记：自然结束。", eos: "模型写出了结束标记：自然结束。", requires_action: "模型要求调用工具；给出结果后继续。", guardrail_intervened: "护栏拦截或替换了回答。",
  load: "请求没有提示词：只加载了模型。", unload: "请求没有提示词：只卸载了模型。", model_length: "模型的上下文窗口用完了。", limit: "达到上限；回答被截断。",
  budget_exceeded: "预算用完了；回答不完整。", expired: "耗时太长，或工具结果来得太晚。",
};

/** What errors mean, by their type. */
const ERRORS = {
  overloaded_error: "提供方负载过高；稍后重试。", rate_limit_error: "请求太多；放慢或稍后重试。", rate_limit_exceeded: "请求太多；放慢或稍后重试。", api_error: "提供方内部出错。",
  server_error: "提供方内部出错。", invalid_request_error: "请求本身有误。", authentication_error: "密钥无效。", permission_error: "密钥没有这个权限。",
  not_found_error: "没有这个模型或路径。", insufficient_quota: "额度用完了。", timeout_error: "耗时太长。",
};

/**
 * What a finish reason or an error means.
 * @param {string | null} word
 * @param {string | null} meaning in English; without one nothing is claimed
 */
export function meaningOf(word, meaning) {
  if (!meaning) return meaning;
  const key = String(word ?? "").toLowerCase();
  return MEANINGS[key] ?? ERRORS[key] ?? meaning;
}
