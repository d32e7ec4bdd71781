"""`client.beta.messages.stream`: the accumulator that knows all block types."""

from anthropic import Anthropic, __version__ as VERSION

NAME, PACKAGE = "anthropic", "anthropic"
REQUEST = {"model": "m", "max_tokens": 1, "messages": [{"role": "user", "content": "Please answer."}]}

client = Anthropic(api_key="none", max_retries=0)


def final(url: str) -> dict:
    with client.with_options(base_url=url).beta.messages.stream(**REQUEST) as stream:
        return stream.get_final_message().to_dict(mode="json", warnings=False)
