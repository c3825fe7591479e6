import importlib
import inspect
import threading
import time

import cachetools
import cachetools.func
import cachetools.keys
import pytest
from cachetools import LRUCache, cached

import cachetools_snippets as snip


def test_version():
    assert cachetools.__version__ == "8.0.0"


def test_import_hashkey():
    exec("from cachetools.keys import hashkey", {})
    for wrong in ("from cachetools import hashkey", "from cachetools.key import hashkey", "from cachetools.func import hashkey"):
        with pytest.raises(ImportError):
            exec(wrong, {})
    assert inspect.signature(cached).parameters["key"].default is cachetools.keys.hashkey


def test_ttl_cache_default():
    assert inspect.signature(cachetools.func.ttl_cache).parameters["ttl"].default == 600

    @cachetools.func.ttl_cache
    def f():
        return 1

    assert f.cache.ttl == 600


def test_evict_most_recent():
    assert not hasattr(cachetools, "MRUCache")

    def victim(cls):  # x, y in; x read (the most recently used, also the most frequent), z in
        c = cls(2)
        c["x"], c["y"] = 1, 2
        c["x"]
        c["z"] = 3
        return ({"x", "y", "z"} - set(c)).pop()

    for cls in (cachetools.LRUCache, cachetools.LFUCache):
        assert victim(cls) == "y"
    c = cachetools.FIFOCache(2)
    c["x"], c["y"] = 1, 2
    c["y"]
    c["z"] = 3
    assert "x" not in c and "y" in c


def test_cached_with_none():
    with pytest.raises(TypeError):
        @cached(cache=None)
        def f():
            return 1


def test_oversized_value():
    cache = LRUCache(maxsize=3, getsizeof=len)
    cache["a"] = "xyz"
    with pytest.raises(ValueError) as e:
        cache["b"] = "wxyz"
    assert type(e.value) is ValueError
    assert dict(cache) == {"a": "xyz"}


def test_lru_survivors():
    assert snip.survivors() == ["x", "z"]


def test_info_output(capsys):
    snip.stats()
    assert capsys.readouterr().out == "CacheInfo(hits=1, misses=2, maxsize=32, currsize=2)\n"


def test_condition_purpose():
    def calls(**kw):
        seen = []

        @cached({}, **kw)
        def slow(x):
            seen.append(x)
            time.sleep(0.3)
            return x

        threads = [threading.Thread(target=slow, args=(1,)) for _ in range(4)]
        [t.start() for t in threads]
        [t.join() for t in threads]
        return len(seen)

    assert calls(condition=threading.Condition()) == 1
    assert calls(lock=threading.Lock()) > 1

    # A, B: not a predicate
    @cached({}, condition=lambda *a: False)
    def g(x):
        return x

    with pytest.raises((TypeError, AttributeError)):
        g(1)

    # D: no notification because of an eviction: exactly one per miss, evicting or not; none from the cache itself
    class Cond:
        def __init__(self):
            self.c, self.n = threading.Condition(), 0

        def __enter__(self):
            return self.c.__enter__()

        def __exit__(self, *a):
            return self.c.__exit__(*a)

        def notify_all(self):
            self.n += 1
            self.c.notify_all()

    cond = Cond()
    lru = LRUCache(1)

    @cached(lru, condition=cond)
    def h(x):
        return x

    h(1)
    assert cond.n == 1  # nothing evicted
    h(2)
    assert cond.n == 2  # one evicted
    lru[h.cache_key(9)] = 9  # evicts
    assert cond.n == 2


def test_getsizeof_role():
    c = cachetools.Cache(10, getsizeof=len)
    c["a"], c["b"] = "xxxx", "yyyyy"
    assert c.currsize == 9 and len(c) == 2  # C wrong
    c["c"] = "zz"  # 9 + 2 > 10
    assert len(c) == 2 and c.currsize <= 10  # one evicted, not more (D)
    got = []
    c = cachetools.Cache(10, getsizeof=lambda v: got.append(v) or 1)
    c["key"] = "value"
    assert got == ["value"]  # never sees the key (B)


@pytest.mark.parametrize("how,ok", [("load.cache_clear()", True), ("load.cache.clear()", True), ("load.clear()", False), ("load.cache_reset()", False)])
def test_drop_memoized(how, ok):
    n = []

    @cached(cache={})
    def load(name):
        n.append(name)

    load("a"), load("a")
    assert n == ["a"]
    if ok:
        eval(how, {"load": load})
        assert not load.cache
        load("a")
        assert n == ["a", "a"]
    else:
        with pytest.raises(AttributeError):
            eval(how, {"load": load})


def test_api_per_item_expiry():
    t = [0]
    c = cachetools.TLRUCache(9, ttu=lambda k, v, now: now + v, timer=lambda: t[0])
    c["a"], c["b"] = 5, 10
    t[0] = 6
    assert "a" not in c and "b" in c
    others = [x for x in (cachetools.Cache, cachetools.FIFOCache, cachetools.LFUCache, cachetools.LRUCache, cachetools.RRCache, cachetools.TTLCache)]
    assert not any("ttu" in inspect.signature(o).parameters for o in others)


def test_api_statistics_tuple():
    assert not hasattr(importlib.import_module("cachetools.func"), "CacheInfo")
    assert cachetools.CacheInfo.__name__ == "CacheInfo"
