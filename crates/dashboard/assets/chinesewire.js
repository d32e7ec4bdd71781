// What the reader of streams says in English, in Chinese: what a frame carried, what a finish reason means. Names that
// were on the wire stay as they are.
import { MEANINGS } from "./chinesemeanings.js";

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

/** What a finish reason or an error means: `meaning` is the reader's sentence, in English. */
export const meaningOf = (meaning) => MEANINGS[meaning] ?? meaning;

/** What the grammar of JSON wanted, by the words for it. */
const DUE = {
  "a value": "值", "a name": "名称", "a name or `}`": "名称或 `}`", "a value or `]`": "值或 `]`", "`:`": "`:`", "`,` or `}`": "`,` 或 `}`",
  "`,` or `]`": "`,` 或 `]`", "the end": "结束", "a character of the string or its closing quote": "字符串的字符或右引号",
  "an escape such as `n` or `u`": "`n`、`u` 之类的转义", "a hexadecimal digit": "十六进制数字", "a digit": "数字",
};

/** What came in its place. */
const FOUND = { "a line feed": "换行", "a carriage return": "回车", "a tab": "制表符", "a character outside ASCII": "ASCII 以外的字符" };

const found = (words) => FOUND[words] ?? words.replace(/^the control character /, "控制字符 ");

/** Why a text is not JSON. */
export function jsonFault(words) {
  const text = String(words);
  let match = /^it ends at byte (\d+) where (.*) is due$/.exec(text);
  if (match) return `在第 ${match[1]} 字节处结束，那里应是${spaced(DUE[match[2]] ?? match[2]).trimEnd()}`;
  match = /^it ends at byte (\d+) inside (`\w+`)$/.exec(text);
  if (match) return `在第 ${match[1]} 字节处结束，${match[2]} 没写完`;
  match = /^(`\w+`) is broken at byte (\d+) by (.*)$/.exec(text);
  if (match) return `${match[1]} 在第 ${match[2]} 字节处被${spaced(found(match[3]))}打断`;
  match = /^(.*) is due at byte (\d+), not (.*)$/s.exec(text);
  return match ? `第 ${match[2]} 字节处应是${spaced(DUE[match[1]] ?? match[1]).trimEnd()}，而不是${spaced(found(match[3])).trimEnd()}` : text;
}

/** Spaces stand between the two scripts. */
const spaced = (words) => `${/^[\u4e00-\u9fff]/.test(words) ? "" : " "}${words}${/[\u4e00-\u9fff]$/.test(words) ? "" : " "}`;
