"""`client.models.generate_content_stream`, which puts nothing together: the pieces that it hands out are joined here."""

from google import genai
from google.genai import types

NAME, PACKAGE, VERSION = "google-genai", "google/genai", genai.__version__

client = genai.Client(api_key="none")


def final(url: str) -> dict:
    config = types.GenerateContentConfig(http_options=types.HttpOptions(base_url=url))
    outputs: dict[int, dict] = {}
    view = {"id": None, "model": None, "usage": {}}
    for chunk in client.models.generate_content_stream(
        model="m", contents="Please answer.", config=config
    ):
        view["id"] = view["id"] or chunk.response_id
        view["model"] = chunk.model_version or view["model"]
        if chunk.usage_metadata:
            view["usage"] |= chunk.usage_metadata.model_dump(mode="json", by_alias=True, exclude_none=True)
        for candidate in chunk.candidates or []:
            output = outputs.setdefault(
                candidate.index or 0, {"text": "", "reasoning": "", "calls": [], "finish": None}
            )
            output["finish"] = candidate.finish_reason.value if candidate.finish_reason else output["finish"]
            for part in candidate.content and candidate.content.parts or []:
                if part.text:
                    output["reasoning" if part.thought else "text"] += part.text
                if part.function_call:
                    call = part.function_call
                    output["calls"].append({"id": call.id, "name": call.name, "arguments": call.args or {}})
    view["outputs"] = [{"index": index, **output} for index, output in sorted(outputs.items())]
    return view if view["usage"] else {**view, "usage": None}
