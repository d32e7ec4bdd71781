"""`ClientV2.chat_stream`, which puts nothing together: the pieces that it hands out are joined here."""

import importlib.metadata

import cohere
import httpx

NAME, PACKAGE, VERSION = "cohere", "cohere", importlib.metadata.version("cohere")

connections = httpx.Client()


def final(url: str) -> dict:
    client = cohere.ClientV2(api_key="none", base_url=url, httpx_client=connections)
    output = {"index": 0, "text": "", "reasoning": "", "calls": [], "finish": None}
    view = {"id": None, "usage": {}, "outputs": [output]}
    for event in client.chat_stream(model="m", messages=[{"role": "user", "content": "Please answer."}]):
        delta = getattr(event, "delta", None)
        message = getattr(delta, "message", None)
        match event.type:
            case "message-start":
                view["id"] = event.id
            case "content-start" | "content-delta":
                output["text"] += getattr(message.content, "text", None) or ""
                output["reasoning"] += getattr(message.content, "thinking", None) or ""
            case "tool-call-start":
                call = message.tool_calls
                output["calls"].append(
                    {"id": call.id, "name": call.function.name, "arguments": call.function.arguments or ""}
                )
            case "tool-call-delta":
                output["calls"][event.index]["arguments"] += message.tool_calls.function.arguments or ""
            case "message-end":
                output["finish"] = delta.finish_reason
                view["error"] = delta.error
                view["usage"] = delta.usage.dict(exclude_none=True) if delta.usage else {}
    return view if view["usage"] else {**view, "usage": None}
