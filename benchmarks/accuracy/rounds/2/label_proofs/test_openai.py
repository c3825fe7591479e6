import importlib.metadata
import importlib.util
import inspect
import pathlib
import re
import sys

import httpx2
import openai
import pytest
from pydantic import BaseModel

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "suites"))
import openai_snippets as snippets


def mocked(handler, **kw):
    transport = httpx2.MockTransport(handler)  # nothing leaves the process
    return openai.OpenAI(api_key="x", http_client=httpx2.Client(transport=transport), **kw)


def test_version():
    assert openai.__version__ == importlib.metadata.version("openai") == "3.49.0"


def test_default_retries(monkeypatch):
    assert openai.DEFAULT_MAX_RETRIES == 2 == openai.OpenAI(api_key="x").max_retries  # C, no other
    requests = []

    def handler(request):
        requests.append(request)
        return httpx2.Response(500, json={}, headers={"retry-after-ms": "1"})

    with pytest.raises(openai.InternalServerError):
        mocked(handler).models.list()
    assert len(requests) == 3


def test_timeout_error_base():
    assert openai.APITimeoutError.__bases__ == (openai.APIConnectionError,)  # B, no other


def test_http_library():
    required = {re.match(r"[\w-]+", r).group() for r in importlib.metadata.requires("openai") if "extra ==" not in r}
    assert "httpx2" in required  # D
    assert not required & {"requests", "httpx", "aiohttp", "urllib3"}  # not A, B, C, E
    assert issubclass(type(openai.OpenAI(api_key="x")._client), httpx2.Client)
    assert importlib.util.find_spec("httpx") is None  # the environment holds just openai and pytest


def test_no_credentials():
    with pytest.raises(Exception) as caught:
        snippets.build()  # raises: not A
    assert type(caught.value) is openai.OpenAIError  # C, not B, D


def test_function_tool(capsys):
    snippets.describe()
    assert capsys.readouterr().out == "function GetWeather True\n"  # A, no other


def test_parse_into_model():
    class Answer(BaseModel):
        n: int

    def handler(request):
        message = {"role": "assistant", "content": '{"n": 4}', "refusal": None}
        choice = {"index": 0, "finish_reason": "stop", "logprobs": None, "message": message}
        return httpx2.Response(200, json={"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]})

    client = mocked(handler)
    for parse in (client.beta.chat.completions.parse, client.chat.completions.parse):  # A and C
        done = parse(model="m", messages=[{"role": "user", "content": "?"}], response_format=Answer)
        assert done.choices[0].message.parsed == Answer(n=4)
    assert not hasattr(client.chat.completions, "create_parsed")  # not B
    assert not hasattr(client.completions, "parse")  # not D


def test_per_call_options():
    client = openai.OpenAI(api_key="x", organization="org", max_retries=7)
    for method in (client.with_options, client.copy):  # A and C
        other = method(timeout=5)
        assert isinstance(other, openai.OpenAI) and other is not client
        assert (other.timeout, other.api_key, other.organization, other.max_retries) == (5, "x", "org", 7)
    assert client.timeout == openai.DEFAULT_TIMEOUT
    assert not hasattr(client, "override") and not hasattr(client, "clone")  # not B, D


def test_chat_from_the_shell():
    distribution = importlib.metadata.distribution("openai")
    assert not list(distribution.entry_points)  # no command is installed: not A, B, C
    files = [str(f) for f in distribution.files]
    assert not [f for f in files if "bin/" in f.lower() or "scripts/" in f.lower()]
    assert not (pathlib.Path(sys.executable).parent / "openai").exists()
    assert importlib.util.find_spec("openai.cli") is None  # not D
    assert importlib.util.find_spec("openai.__main__") is None


def test_why_not_given():
    seen = []

    def handler(request):
        seen.append((request.extensions["timeout"]["read"], request.content))
        return httpx2.Response(200, json={"object": "list", "data": []})

    client = mocked(handler)
    default = inspect.signature(client.models.list).parameters["timeout"].default
    assert isinstance(default, openai.NotGiven)
    client.models.list()
    client.models.list(timeout=None)
    assert seen == [(600, b""), (None, b"")]  # B; nothing is sent (not C); no waiting (not D)
    assert "None" in str(inspect.signature(client.models.list).parameters["timeout"].annotation)  # not A


def test_continue_a_response():
    from openai.resources.responses import Responses

    names = inspect.signature(Responses.create).parameters
    assert "previous_response_id" in names  # B
    assert not set(names) & {"parent_id", "thread_id", "last_response"}  # not A, C, D


def test_async_azure_client():
    from openai.lib.azure import AsyncAzureOpenAI

    assert openai.AsyncAzureOpenAI is AsyncAzureOpenAI and issubclass(AsyncAzureOpenAI, openai.AsyncOpenAI)


def test_image_from_prompt():
    assert not hasattr(openai.resources.images.Images, "create")
    assert "prompt" in inspect.signature(openai.resources.images.Images.generate).parameters
