"""Streams a chat completion with the official Python SDK and prints the object that the SDK itself assembled.

Arguments: the base URL. Standard input: the request as JSON.
"""

import json
import sys

from openai import OpenAI

client = OpenAI(base_url=sys.argv[1], api_key="sk-planted-python-secret", max_retries=0)
with client.chat.completions.stream(**json.load(sys.stdin)) as stream:
    for _ in stream:
        pass
    print(stream.get_final_completion().model_dump_json(exclude_unset=True))
