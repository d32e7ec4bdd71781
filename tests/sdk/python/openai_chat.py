"""`client.chat.completions.stream`. A completion that was cut by a limit or a filter comes inside an exception."""

from openai import ContentFilterFinishReasonError, LengthFinishReasonError, OpenAI, __version__ as VERSION

NAME, PACKAGE = "openai", "openai"
REQUEST = {"model": "m", "messages": [{"role": "user", "content": "Please answer."}]}

client = OpenAI(api_key="none", max_retries=0)


def final(url: str) -> dict:
    with client.with_options(base_url=url).chat.completions.stream(**REQUEST) as stream:
        stream.until_done()
        try:
            completion = stream.get_final_completion()
        except (ContentFilterFinishReasonError, LengthFinishReasonError):
            completion = stream.current_completion_snapshot
    return completion.to_dict(mode="json", warnings=False)
