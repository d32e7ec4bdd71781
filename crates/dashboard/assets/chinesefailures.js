// Why the proxy had no answer to pass on, in Chinese: its sentences are English, with their values in them.

/** What each kind means (contract, section 2), for sentences that are not listed below. */
export const KINDS = {
  "no-upstream": "路径没有指明已知的上游", "connect-failed": "无法连接上游", "tls-failed": "与上游的 TLS 连接失败", "upstream-timeout": "上游没有及时应答",
  "upstream-closed": "上游没有应答就关闭了连接", "bad-request": "请求无法转发", "forbidden-host": "不允许这个主机名", "not-a-proxy": "这里不是 HTTP_PROXY 代理",
};

const LOOK = "。请查看它的日志以及中间的代理。请求可能已被执行，因此不会重发";

export const PATTERNS = [
  [/^the name (\S+) cannot be resolved \((.*)\); check .*$/s, (_, host, why) => `无法解析名称 ${host}（${why}）。请检查上游的 URL 和网络`],
  [/^no connection to (\S+) port (\d+) \((.*)\); is it .*$/s, (_, host, port, why) => `无法连接 ${host} 端口 ${port}（${why}）。它在运行吗，URL 对吗`],
  [/^no connection to (\S+) port (\d+) within (\S+); .*$/s, (_, host, port, limit) => `${limit} 内无法连接 ${host} 端口 ${port}。是否被网络、VPN 或防火墙挡住`],
  [/^(\S+) port (\d+) is this proxy itself; .*$/s, (_, host, port) => `${host} 端口 ${port} 就是本代理。请把上游设为 API 的 URL`],
  [/^(\S+) closed the connection without an answer; .*$/s, (_, url) => `${url} 没有应答就关闭了连接${LOOK}`],
  [/^(\S+) reset the connection without an answer; .*$/s, (_, url) => `${url} 没有应答就重置了连接${LOOK}`],
  [/^(\S+) closed the new connection at once; .*$/s, (_, url) => `${url} 立即关闭了新连接${LOOK}`],
  [/^(\S+) gave no answer \((.*)\); .*$/s, (_, url, why) => `${url} 没有应答（${why}）${LOOK}`],
  [/^(\S+) did not answer in HTTP\/1\.1 \((.*)\); .*$/s, (_, url, why) => `${url} 的应答不是 HTTP/1.1（${why}）${LOOK}`],
  [/^`(.*)` cannot be the name in a certificate$/s, (_, host) => `\`${host}\` 不能是证书中的名称`],
  [/^no TLS connection with (\S+): (.*)$/s, (_, host, why) => `与 ${host} 无法建立 TLS 连接：${why}`],
];

/** The proxy's sentence; one that is not known stays as it is, after what its kind means. */
export function failureOf(kind, message) {
  const found = PATTERNS.find(([pattern]) => pattern.test(message));
  if (found) return message.replace(...found);
  const meaning = Object.hasOwn(KINDS, kind) ? KINDS[kind] : "";
  return meaning && message ? `${meaning}：${message}` : meaning || message;
}
