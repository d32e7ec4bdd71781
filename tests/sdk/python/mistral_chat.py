"""`Mistral.chat.stream`, which puts nothing together: the pieces that it hands out are joined here."""

import importlib.metadata

from mistralai.client import Mistral

NAME, PACKAGE, VERSION = "mistralai", "mistralai", importlib.metadata.version("mistralai")

client = Mistral(api_key="none")


def texts(content) -> tuple[str, str]:
    """Text and reasoning of a delta's content, which is text or a list of parts."""
    if not isinstance(content, list):
        return content or "", ""
    text = "".join(part.text for part in content if part.type == "text")
    thoughts = [part.thinking for part in content if part.type == "thinking"]
    return text, "".join(thought.text for thinking in thoughts for thought in thinking)


def final(url: str) -> dict:
    outputs: dict[int, dict] = {}
    view = {"id": None, "model": None, "usage": {}}
    messages = [{"role": "user", "content": "Please answer."}]
    for event in client.chat.stream(model="m", messages=messages, server_url=url):
        chunk = event.data
        view["id"], view["model"] = view["id"] or chunk.id, chunk.model or view["model"]
        if chunk.usage:
            view["usage"] = chunk.usage.model_dump(mode="json", exclude_unset=True)
        for choice in chunk.choices:
            output = outputs.setdefault(
                choice.index, {"text": "", "reasoning": "", "calls": [], "finish": None}
            )
            text, reasoning = texts(choice.delta.content)
            output["text"] += text
            output["reasoning"] += reasoning
            output["finish"] = choice.finish_reason or output["finish"]
            for call in choice.delta.tool_calls or []:
                function = call.function
                # A fragment that goes on with a call has no id, which the SDK gives as a word.
                if call.id == "null" and call.index < len(output["calls"]):
                    output["calls"][call.index]["arguments"] += function.arguments
                else:
                    made = {"id": call.id, "name": function.name, "arguments": function.arguments}
                    output["calls"].append(made)
    view["outputs"] = [{"index": index, **output} for index, output in sorted(outputs.items())]
    return view if view["usage"] else {**view, "usage": None}
