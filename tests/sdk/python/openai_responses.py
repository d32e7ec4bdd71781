"""`client.responses.stream`. Its helper knows one good end; after another, the terminal event has the response."""

from openai import OpenAI, __version__ as VERSION

NAME, PACKAGE = "openai", "openai"

client = OpenAI(api_key="none", max_retries=0)


def final(url: str) -> dict:
    response = None
    with client.with_options(base_url=url).responses.stream(model="m", input="Please answer.") as stream:
        for event in stream:
            if event.type in ("response.incomplete", "response.failed"):
                response = event.response
        response = response or stream.get_final_response()
    return response.to_dict(mode="json", warnings=False)
