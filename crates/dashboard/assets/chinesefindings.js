// The findings in Simplified Chinese, one entry for each of the catalogue's (crates/finding/src/catalogue.rs): its title,
// its sentence from the facts of the case, why it matters, what to do. A test holds ids and facts to the catalogue.
import { number } from "./format.js";
import { jsonFault, thing } from "./chinesewire.js";

const ms = (value) => `${number(value)} ms`;

/** @type {Record<string, { title: string, sentence: (args: any) => string, why: string, advice: string }>} */
export const FINDINGS = {
  empty: {
    title: "没有带数据的帧",
    sentence: () => "没有找到带数据的帧。",
    why: "等待第一个事件的客户端会一直等下去，或报告一个空回答。",
    advice: "检查捕获的是响应体而不是头部，并且请求要求了流式。",
  },
  bom: {
    title: "开头有字节序标记",
    sentence: () => "流以字节序标记（U+FEFF）开头；已去掉。",
    why: "不去掉它的读取器会看到名为 `\\u{feff}data` 的字段，丢掉第一帧：Anthropic 的 Python 客户端就是这样，其流辅助函数会抛出异常。",
    advice: "写出响应体时不要带字节序标记；EventSource 只容忍开头的一个。",
  },
  "ignored-line": {
    title: "被忽略的行",
    sentence: ({ text, event_only }) => (event_only ? `这一帧只写了事件 \`${text}\`，没有数据行，因此不会派发任何内容。` : `\`${text}\` 这一行不属于流的格式，被忽略。`),
    why: "字段名区分大小写：`Data:` 不是 `data:`。这一行里的内容到不了客户端：流中的 `error:` 行或网页，在 OpenAI 的 Python 客户端里成了空的或变短的回答。",
    advice: "如果这一行有用，发送方必须把它放进 `data:` 行；带 `event:` 的帧也需要一行数据。",
  },
  "not-json": {
    title: "数据不是 JSON",
    sentence: ({ text, error, glued }) => (glued ? `帧之间少了空行：每个数据行各自是 JSON，合在一起不是：\`${text}\`。` : `这一帧的数据不是 JSON（${jsonFault(error)}）：\`${text}\`。`),
    why: "多数 SDK 会解析每一帧的数据，在回答中间遇到它就抛出异常：OpenAI 的 Python 和 Node 客户端都是；AI SDK 报告它并继续读。",
    advice: "看原始行：少一个空行会把两帧粘在一起，纯文本往往是网关的错误。",
  },
  cut: {
    title: "在帧中间被截断",
    sentence: ({ bytes }) => `流在一帧中间被截断，这一帧只到了 ${number(bytes)} 字节。`,
    why: "这一帧本来要带的内容丢了，而多数客户端显示的回答看起来是完整的。",
    advice: "看连接是怎么结束的；客户端与服务器之间的时限或缓冲上限是常见原因。",
  },
  unterminated: {
    title: "末尾没有结束",
    sentence: ({ array }) => (array ? "数组没有右括号；每个元素都是完整的，已使用。" : "最后一帧后面没有空行；它读起来完整，已使用。"),
    why: "EventSource 和官方 SDK 会丢弃这样的帧，其内容在那里就没了：OpenAI 的 Python 辅助函数随后因缺少 `response.completed` 抛出异常。",
    advice: "服务器必须在最后一帧之后发一个空行。",
  },
  "too-large": {
    title: "帧太大",
    sentence: ({ limit, document }) => (document ? `这份文档超过 ${number(limit)} 字节，没有读取。` : `一帧在空行之前超过 ${number(limit)} 个字符；之后的内容没有读取。`),
    why: "读取器要把一帧留在内存里直到空行到来；有上限的会在这里停止读流。",
    advice: "把大内容分成几帧发送，或用引用代替。",
  },
  crlf: {
    title: "行以 CR LF 结尾",
    sentence: () => "每一行都以 CR LF 结尾。",
    why: "只找 `\\n\\n` 的读取器（手写的客户端常这样）会找不到任何帧。",
    advice: "使用认识三种行尾的读取器，或让服务器发 LF。",
  },
  "unknown-event": {
    title: "未知事件",
    sentence: ({ name }) => `\`${name}\` 不是这个格式的事件；这一帧列出但没有读取。`,
    why: "厂商会增加事件；只认固定列表的客户端会抛出异常。",
    advice: "跳过不认识的，再看看这一个是否带着你需要的内容。",
  },
  mixed: {
    title: "混有多种格式",
    sentence: ({ formats, read_as }) => `这些帧属于不止一种格式（${formats}）；按 ${read_as} 读取。`,
    why: "只懂一种格式的客户端会忽略另一种的帧，或被它绊住。",
    advice: "看另一种格式的帧从哪里来：常见的是网关自己的错误帧。`--as` 可以按另一种格式读取。",
  },
  "no-end": {
    title: "没有结束标记",
    sentence: ({ expected, finished }) => `流结束了却没有 ${thing(expected)}${finished ? "，尽管每个选项都有结束原因" : ""}。`,
    why: "客户端无法区分完成的回答和中断的回答；已到的内容可能不完整。没有 `message_stop` 时 Anthropic 的 Node 辅助函数会抛出异常，其 Python 辅助函数和 OpenAI 的客户端什么也不说。",
    advice: "看连接是怎么结束的、最后几帧是什么；有些服务器从不发结束标记。",
  },
  "no-start": {
    title: "没有开头",
    sentence: ({ expected }) => `流不是以 ${thing(expected)} 开头。`,
    why: "id、模型和最初的用量计数随这个事件到来，没有它 SDK 会抛出异常。",
    advice: "从第一个字节开始捕获；如果已经是，那就是服务器省略了这个事件。",
  },
  "block-open": {
    title: "打开后从未关闭",
    sentence: ({ what }) => `${thing(what)} 打开后从未关闭。`,
    why: "未关闭的块里的工具参数可能缺结尾。Anthropic 的客户端仍把这个块当作完整的；等待其停止事件的代码会白等。",
    advice: "看最后一个往里添加内容的帧之后的那些帧。",
  },
  "prompt-blocked": {
    title: "提示词被拦截",
    sentence: ({ reason, meaning }) => `提示词被拦截：${reason}。${meaning}`.trimEnd(),
    why: "响应已完成，但没有回答；直接读第一个候选的代码会失败。",
    advice: "换一种说法；读取候选之前先检查拦截原因。",
  },
  "block-unstarted": {
    title: "从未打开",
    sentence: ({ what }) => `来了一个针对 ${thing(what)} 的事件，而它从未打开；不计入回答。`,
    why: "SDK 会去找并不存在的一项：OpenAI 的 Python 和 Node 流辅助函数抛出异常，AI SDK 为每个增量报告一个错误。",
    advice: "看这一帧之前是否丢了帧。",
  },
  "block-restarted": {
    title: "再次打开",
    sentence: ({ what, replaced }) => `${thing(what)} 再次打开；后来的替换了 ${number(replaced)} 字节。`,
    why: "之前的内容在一些客户端里没了，在另一些里重复了。",
    advice: "在流中间重试的网关会这样；它应当把重试作为新的流传递。",
  },
  "bad-field": {
    title: "字段形状不对",
    sentence: ({ field, expected, value }) => `\`${field}\` 是 ${thing(value)}，而不是${thing(expected)}；没有读取。`,
    why: "有类型的客户端会解析不了整帧，其他的会带着错误的类型继续。",
    advice: "服务器必须发送其模式规定的类型。",
  },
  "after-end": {
    title: "结束之后还有帧",
    sentence: ({ text }) => `流结束之后又来了一帧：\`${text}\`。`,
    why: "客户端在结束处停止读取，这些内容到不了它们。",
    advice: "用量和错误必须在结束标记之前发送。",
  },
  "error-event": {
    title: "以错误结束",
    sentence: ({ message }) => `流以错误结束：${message}`,
    why: "之前到的内容不完整。OpenAI、Anthropic 和 Google 的客户端在流中间抛出异常，但 OpenAI 的客户端遇到 Responses 的 `error` 事件不会；只看状态码的客户端会把已到的内容当作回答。",
    advice: "把流里的错误当作失败的请求处理。看错误的含义。",
  },
  "sequence-gap": {
    title: "序号不连续",
    sentence: ({ expected, got }) => `应当是序号 ${number(expected)}，来的却是 ${number(got)}。`,
    why: "由增量拼出的正文或参数可能缺一段。",
    advice: "有最终对象就与它比较；找找丢弃或打乱事件的代理。",
  },
  "event-mismatch": {
    title: "事件名不一致",
    sentence: ({ event, data_type }) => `这一帧的 \`event:\` 写的是 \`${event}\`，数据里写的是 \`${data_type}\`。`,
    why: "读这一处的客户端和读那一处的客户端看到的是不同的流。",
    advice: "发送方必须在两处写同一个名字。",
  },
  "tool-call-incomplete": {
    title: "工具调用不完整",
    sentence: ({ call, missing, arguments: text }) => `工具调用 ${number(call)} 始终没有收到${thing(missing)}，因此被略去；它的参数是 \`${text}\`。`,
    why: "没有名称就无法调用工具，没有 id 就无法答复调用：OpenAI 的辅助函数会给出这样的调用，AI SDK 抛出异常。",
    advice: "看这个调用的片段：丢了第一个片段，或服务器从不发送这个字段。",
  },
  "tool-call-no-index": {
    title: "片段没有序号",
    sentence: ({ choice }) => `选项 ${number(choice)} 的一个工具调用片段没有 index。`,
    why: "客户端按 index 拼接：没有它，OpenAI 的 Python 辅助函数抛出异常，Node 辅助函数抛出异常或丢失调用；AI SDK 能分开各个调用。",
    advice: "服务器必须在每个片段里发送 `index`。",
  },
  "arguments-not-json": {
    title: "参数不是 JSON",
    sentence: ({ tool, error, empty }) => (empty ? `\`${tool}\` 的参数是空的，空文本不是 JSON。` : `\`${tool}\` 的参数不是 JSON：${jsonFault(error)}。`),
    why: "客户端解析时会抛出异常，或以空参数调用工具：对被令牌上限截断的调用，OpenAI 的 Python 辅助函数抛出异常，AI SDK 把调用标为无效。",
    advice: "模型会写出这样的参数，碰到 Token 上限时更常见；如果缺了片段，那就是流的问题。",
  },
  "done-mismatch": {
    title: "最终值不一致",
    sentence: ({ what, kept, assembled }) => `${thing(what)} 的最终值是 \`${kept}\`，而增量拼出的是 \`${assembled}\`。`,
    why: "显示增量的客户端和显示最终值的客户端给出不同的回答：OpenAI 的辅助函数保留最终文本，AI SDK 保留增量。",
    advice: "找出它们开始不同的第一帧。",
  },
  "not-assembled": {
    title: "没有拼进回答",
    sentence: ({ what }) => `流里带有 \`${what}\`，它不在拼出的回答里。`,
    why: "各客户端对它的处理不同。",
    advice: "不需要它就不用管。",
  },
  "no-finish-reason": {
    title: "没有结束原因",
    sentence: ({ what }) => `流结束了，${thing(what)} 没有结束原因。`,
    why: "客户端无法区分完整的回答和被缩短的回答：OpenAI 的 Node 辅助函数抛出异常，AI SDK 报告错误，OpenAI 的 Python 辅助函数什么也不说。",
    advice: "服务器必须在选项的最后一块里发送原因。",
  },
  incomplete: {
    title: "回答不完整",
    sentence: ({ reason }) => (reason ? `回答不完整：${reason}。` : "回答不完整。"),
    why: "回答停在中间，工具参数也一样。OpenAI 的 Python 辅助函数因缺少 `response.completed` 抛出异常。",
    advice: "提高 Token 上限，或从停下的地方继续。",
  },
  "tool-failed": {
    title: "工具失败",
    sentence: ({ tool, message }) => `工具 \`${tool}\` 失败：${message}。`,
    why: "回答依据的内容可能比要求的少。",
    advice: "看工具的错误。",
  },
  "index-reused": {
    title: "序号重复使用",
    sentence: ({ index, id }) => `序号 ${number(index)} 又用在调用 \`${id}\` 上；两个调用已分开。`,
    why: "按序号拼接的客户端（OpenAI 的 Python 和 Node 辅助函数就是）会把两个调用的参数粘在一起；AI SDK 能分开它们。",
    advice: "服务器必须给调用编号。",
  },
  cumulative: {
    title: "累积的值",
    sentence: ({ evidence }) => `这些值是累积的，每个都含有到此为止的全文（${String(evidence).replace(/^(\d+) of (\d+) begin with the one before$/, "$2 个中有 $1 个以前一个开头")}）。`,
    why: "逐个追加的客户端会一遍遍重复正文：OpenAI 的客户端和 AI SDK 就是这样。",
    advice: "替换正文而不是追加，或让 API 发增量。",
  },
  rewritten: {
    title: "正文被改写",
    sentence: ({ what, at }) => `${thing(what)} 从第 ${number(at)} 个字符起被改写。`,
    why: "只显示新增内容的客户端会把旧文本留在屏幕上。",
    advice: "从第一个不同的字符起替换正文。",
  },
  "usage-missing": {
    title: "没有用量",
    sentence: () => "没有发送用量。",
    why: "无法据此计算费用和限额。",
    advice: '在 Chat Completions 里用 `stream_options: {"include_usage": true}` 请求。',
  },
  "content-type": {
    title: "内容类型不符",
    sentence: ({ declared, found }) => `内容类型写的是 \`${declared}\`，响应体却是 ${found}。`,
    why: "客户端按内容类型选择解码器，于是什么也读不到。",
    advice: "服务器或网关必须发送相符的内容类型。",
  },
  "id-changed": {
    title: "id 变了",
    sentence: ({ what, first, second }) => `${thing(what)} 的 id 从 \`${first}\` 变成 \`${second}\`；保留第一个。`,
    why: "按 id 分组的客户端会把一个回答拆成两个。工具调用有几个 id 时，OpenAI 的 Python 辅助函数把文本接在一起，Node 辅助函数保留最后一个，AI SDK 保留第一个。",
    advice: "按序号或位置分组。",
  },
  "event-line-missing": {
    title: "没有 event 行",
    sentence: ({ data_type }) => `类型为 \`${data_type}\` 的帧没有 \`event:\` 行。`,
    why: "Anthropic 的 Python 和 Node 客户端按这一行派发，看不到这一帧；AI SDK 读数据里的类型。",
    advice: "服务器必须发送带类型的 `event:`。",
  },
  "bad-utf8": {
    title: "不是 UTF-8",
    sentence: ({ bytes, at }) => `偏移 ${number(at)} 处有不是 UTF-8 的字节（${bytes}），显示为 U+FFFD。`,
    why: "客户端会显示替换字符，或它的解码器抛出异常。",
    advice: "途中有东西把一个字符切成两半，或发送了别的编码；与直连上游的捕获对比。",
  },
  "crc-mismatch": {
    title: "校验和不符",
    sentence: ({ what, expected, got }) => `${what === "prelude" ? "前导" : "消息"}的校验和是 ${expected}，而字节算出的是 ${got}。`,
    why: "SDK 遇到它会抛出异常。",
    advice: "字节在途中被改了，往往是有东西把它当作文本处理。",
  },
  "base-url": {
    title: "基础 URL 不对",
    sentence: ({ suggested }) => `上游没有这个路径；基础 URL 大概应当是 ${suggested}。`,
    why: "上游对所有请求都答复 404。",
    advice: "把客户端的基础 URL 设为所说的那个。",
  },
  "connection-broke": {
    title: "连接断开",
    sentence: ({ how, frames, bytes, after_ms }) => `上游在 ${number(frames)} 帧、${number(bytes)} 字节之后断开了连接（${how}），用时 ${ms(after_ms)}。`,
    why: "应用得到同样的字节，然后同样的中断。",
    advice: "看上游和中间的设备；时间或大小的上限每次都会显示同样的数字。",
  },
  "client-left": {
    title: "应用离开",
    sentence: ({ frames, bytes, after_ms }) => `应用在 ${number(frames)} 帧、${number(bytes)} 字节之后关闭了连接，用时 ${ms(after_ms)}。`,
    why: "有意中止是正常的。客户端的时限看起来也一样。",
    advice: "如果不是有意的，看客户端的时限。",
  },
  "capture-incomplete": {
    title: "捕获不完整",
    sentence: ({ from, to, reason }) => `捕获缺少第 ${number(from)} 到 ${number(to)} 字节；应用得到了它们（${reason}）。`,
    why: "显示的内容缺一段流；附近的诊断可能是捕获造成的。",
    advice: "看这台机器的磁盘和负载。",
  },
  stalled: {
    title: "长时间没有内容",
    sentence: ({ ms: gap }) => `这一帧之前 ${ms(gap)} 没有任何内容。`,
    why: "空闲连接的时限（常见 30 或 60 秒）会结束这样的流。",
    advice: "发送保活注释，或提高途中的空闲时限。",
  },
  coalesced: {
    title: "一次读到很多帧",
    sentence: ({ frames }) => `${number(frames)} 帧在同一次读取里到达。`,
    why: "正文一阵一阵地出现：途中有东西在攒着流。",
    advice: "关闭网关和代理的响应缓冲。",
  },
  "websocket-fault": {
    title: "WebSocket 协议错误",
    sentence: ({ sender, fault }) => `来自${sender === "app" ? "应用" : "上游"}：${fault}。`,
    why: "遵守 RFC 6455 的一端遇到它会断开连接，代码多为 1002 或 1007。",
    advice: "看写出这一帧的库或网关；被截断的部分随连接一起丢失了。",
  },
  "websocket-compressed": {
    title: "压缩的消息",
    sentence: ({ messages }) => `${number(messages)} 条消息是压缩的（permessage-deflate）；只计数，不解码。`,
    why: "应用照常读到它们；只是这里不能显示它们的文本。",
    advice: "要看到它们，让客户端不要求压缩：从 `Sec-WebSocket-Extensions` 里去掉 `permessage-deflate`。",
  },
};

/** A finding's sentence; `null` for one that is not known here. */
export function sentenceOf(finding) {
  const entry = FINDINGS[finding.id];
  return entry ? entry.sentence(finding.args) : null;
}

/** Its words; `null` for one that is not known here. */
export function explanationOf(id) {
  const entry = FINDINGS[id];
  return entry ? { id, title: entry.title, why: entry.why, advice: entry.advice } : null;
}
