"""`Client.chat` with `stream`, which puts nothing together: the pieces that it hands out are joined here."""

import importlib.metadata

import ollama

NAME, PACKAGE, VERSION = "ollama", "ollama", importlib.metadata.version("ollama")
COUNTS = (
    "total_duration",
    "load_duration",
    "prompt_eval_count",
    "prompt_eval_duration",
    "eval_count",
    "eval_duration",
)


def final(url: str) -> dict:
    client = ollama.Client(host=url, verify=False)  # to load no certificates for every stream
    output = {"index": 0, "text": "", "reasoning": "", "calls": [], "finish": None}
    view = {"model": None, "usage": {}, "outputs": [output]}
    for chunk in client.chat(model="m", messages=[{"role": "user", "content": "Please answer."}], stream=True):
        view["model"] = chunk.model or view["model"]
        output["text"] += chunk.message.content or ""
        output["reasoning"] += chunk.message.thinking or ""
        for call in chunk.message.tool_calls or []:
            output["calls"].append({"name": call.function.name, "arguments": dict(call.function.arguments)})
        output["finish"] = chunk.done_reason or output["finish"]
        view["usage"] |= {name: chunk[name] for name in COUNTS if chunk.get(name) is not None}
    return view if view["usage"] else {**view, "usage": None}
