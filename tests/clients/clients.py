"""Runs one client of the table, once, streaming: python clients.py NAME PROXY. The model's answer goes to standard output."""

import os
import sys

name, proxy = sys.argv[1], sys.argv[2]
MESSAGES = [{"role": "user", "content": "Say hello."}]


def show(text):
    sys.stdout.write(text or "")


def openai():
    from openai import OpenAI

    for chunk in OpenAI().chat.completions.create(model="gpt-4o-mini", messages=MESSAGES, stream=True):
        for choice in chunk.choices:
            show(choice.delta.content)


def langchain_openai():
    from langchain_openai import ChatOpenAI

    for chunk in ChatOpenAI(model="gpt-4o-mini", base_url=f"http://{proxy}/openai/v1").stream("Say hello."):
        show(chunk.text)


def litellm():
    import litellm

    stream = litellm.completion(
        model="openai/gpt-4o-mini", messages=MESSAGES, stream=True, api_base=f"http://{proxy}/openai/v1"
    )
    for chunk in stream:
        show(chunk.choices[0].delta.content)


def aider():
    import pathlib
    import subprocess
    import tempfile

    tool = pathlib.Path(__file__).parent / ".venv-aider/bin/aider"
    quiet = ["--no-git", "--yes-always", "--no-check-update", "--no-analytics", "--no-show-model-warnings"]
    with tempfile.TemporaryDirectory() as home:
        command = [tool, "--model", "openai/gpt-4o-mini", *quiet, "--exit", "--message", "Say hello."]
        subprocess.run(command, check=True, cwd=home, env=os.environ | {"HOME": home}, timeout=120)


def llm():
    import llm

    for text in llm.get_model("gpt-4o-mini").prompt("Say hello.", stream=True):
        show(text)


def anthropic():
    from anthropic import Anthropic

    with Anthropic().messages.stream(model="claude-sonnet-4-5", max_tokens=64, messages=MESSAGES) as stream:
        for text in stream.text_stream:
            show(text)


def langchain_anthropic():
    from langchain_anthropic import ChatAnthropic

    for chunk in ChatAnthropic(model="claude-sonnet-4-5", base_url=f"http://{proxy}/anthropic").stream("Say hello."):
        show(chunk.text)


def google_genai():
    from google import genai

    client = genai.Client()
    for chunk in client.models.generate_content_stream(model="gemini-2.5-flash", contents="Say hello."):
        show(chunk.text)


def mistralai():
    from mistralai.client import Mistral

    client = Mistral(api_key=os.environ["MISTRAL_API_KEY"], server_url=f"http://{proxy}/mistral")
    for event in client.chat.stream(model="mistral-small-latest", messages=MESSAGES):
        show(event.data.choices[0].delta.content)


def cohere():
    from cohere import ClientV2

    for event in ClientV2(api_key=os.environ["CO_API_KEY"]).chat_stream(model="command-a-03-2025", messages=MESSAGES):
        if event.type == "content-delta":
            show(event.delta.message.content.text)


def groq():
    from groq import Groq

    for chunk in Groq().chat.completions.create(model="llama-3.3-70b-versatile", messages=MESSAGES, stream=True):
        show(chunk.choices[0].delta.content if chunk.choices else "")


def ollama():
    import ollama

    for part in ollama.chat(model="llama3.2", messages=MESSAGES, stream=True):
        show(part.message.content)


globals()[name]()
