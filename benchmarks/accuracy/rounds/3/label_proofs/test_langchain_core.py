import importlib
import inspect
from importlib.metadata import version

import pytest
from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.messages import HumanMessage, SystemMessage, ToolMessage
from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import (
    RunnableBranch, RunnableLambda, RunnableMap, RunnableParallel, RunnablePassthrough, RunnableSequence,
)
from langchain_core.tools import ToolException, tool
from langchain_core.vectorstores import InMemoryVectorStore, VectorStoreRetriever

import langchain_snippets


def test_version():
    assert version("langchain-core") == "1.7.2"


def test_tool_without_docstring():
    with pytest.raises(ValueError) as e:
        langchain_snippets.build_tool()
    assert type(e.value) is ValueError and not isinstance(e.value, (TypeError, ToolException))


def test_add_key_to_dict():
    assert RunnablePassthrough.assign(b=lambda d: d["a"] + 1).invoke({"a": 1}) == {"a": 1, "b": 2}
    assert not hasattr(RunnableLambda, "extend")
    assert not hasattr(RunnableBranch, "add")
    assert RunnableParallel(a=lambda x: x, b=lambda x: x).pick(["a"]).invoke(1) == {"a": 1}  # removes keys


def test_same_input_many_runnables():
    assert RunnableMap is RunnableParallel
    for cls in (RunnableParallel, RunnableMap):
        assert cls(a=lambda x: x + 1, b=lambda x: x * 2).invoke(3) == {"a": 4, "b": 6}
    plus, twice = RunnableLambda(lambda x: x + 1), RunnableLambda(lambda x: x * 2)
    assert RunnableSequence(plus, twice).invoke(3) == 8
    assert RunnableBranch((lambda x: x > 0, plus), twice).invoke(3) == 4


def test_burst_size():
    from langchain_core.rate_limiters import InMemoryRateLimiter

    assert "burst_limit" not in inspect.signature(InMemoryRateLimiter.__init__).parameters

    def burst(**kw):
        import time
        lim = InMemoryRateLimiter(**kw)
        lim.acquire(blocking=False)
        time.sleep(0.3)  # refill for a while
        return sum(lim.acquire(blocking=False) for _ in range(50))

    assert burst(requests_per_second=100, max_bucket_size=1) == 1
    assert burst(requests_per_second=100, max_bucket_size=7) == 7
    assert burst(requests_per_second=200, max_bucket_size=7) == 7
    assert burst(requests_per_second=100, max_bucket_size=7, check_every_n_seconds=0.5) == 7


def test_placeholder_not_filled():
    prompt = ChatPromptTemplate([("system", "You are {persona}."), MessagesPlaceholder("history")])
    with pytest.raises(KeyError) as e:
        prompt.invoke({"persona": "a pirate"})
    assert not isinstance(e.value, (ValueError, TypeError))


def test_import_basemodel_for_args():
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("langchain_core.pydantic_v1")
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("langchain_core.schema")
    with pytest.raises(ImportError):
        from langchain_core.utils import BaseModel, Field  # noqa: F401
    from pydantic import BaseModel, Field

    class Args(BaseModel):
        x: int = Field(description="a number")

    @tool(args_schema=Args)
    def f(x: int) -> int:
        "Increment."
        return x + 1

    assert f.invoke({"x": 1}) == 2


def test_trimmed_history(capsys):
    langchain_snippets.shorten()
    assert capsys.readouterr().out.strip() == "['s', 'h2']"


def test_chat_prompt_items():
    p = ChatPromptTemplate([SystemMessage("Be brief."), ("human", "Hello {name}"), MessagesPlaceholder("h")])
    out = p.invoke({"name": "Bo", "h": [HumanMessage("x")]}).to_messages()
    assert [m.content for m in out] == ["Be brief.", "Hello Bo", "x"]


def test_similarity_search_k(monkeypatch):
    assert inspect.signature(InMemoryVectorStore.similarity_search).parameters["k"].default == 4
    # the value reaches the search (numpy, which the scoring needs, isn't installed here)
    seen = []
    vs = InMemoryVectorStore(DeterministicFakeEmbedding.model_construct(size=8))
    for name in [n for n in dir(vs) if n.startswith("similarity_search_with_score")]:
        monkeypatch.setattr(vs, name, lambda query, k=None, **kw: seen.append(k) or [])
    assert vs.similarity_search("q") == [] and seen == [4]


def test_not_a_search_type():
    from langchain_core.embeddings import Embeddings

    class E(Embeddings):
        def embed_documents(self, texts):
            return [[1.0]] * len(texts)

        def embed_query(self, text):
            return [1.0]

    vs = InMemoryVectorStore(E())
    for ok, kw in (("similarity", {}), ("mmr", {}), ("similarity_score_threshold", {"score_threshold": 0.5})):
        assert vs.as_retriever(search_type=ok, search_kwargs=kw).search_type == ok
    with pytest.raises(ValueError):
        vs.as_retriever(search_type="hybrid")
    assert "hybrid" not in VectorStoreRetriever.allowed_search_types


def test_content_and_artifact():
    @tool(response_format="content_and_artifact")
    def f(x: int):
        "d"
        return "text", {"raw": x}

    m = f.invoke({"name": "f", "args": {"x": 1}, "id": "1", "type": "tool_call"})
    assert isinstance(m, ToolMessage) and m.content == "text" and m.artifact == {"raw": 1}

    @tool(response_format="content_and_artifact")
    def g(x: int):
        "d"
        return "/tmp/some/path"

    with pytest.raises(ValueError, match="two-tuple|tuple"):
        g.invoke({"name": "g", "args": {"x": 1}, "id": "1", "type": "tool_call"})


def test_api_custom_retriever_base():
    class R(BaseRetriever):
        def _get_relevant_documents(self, query, *, run_manager):
            return [Document(page_content=query)]

    assert R().invoke("q")[0].page_content == "q"


def test_api_query_a_retriever():
    assert not hasattr(BaseRetriever, "get_relevant_documents")
    assert hasattr(BaseRetriever, "invoke")
