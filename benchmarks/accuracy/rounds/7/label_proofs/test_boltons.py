import os, sys
from importlib.metadata import version
from pathlib import Path

import pytest
from boltons import cacheutils, dictutils, iterutils, queueutils, socketutils, setutils, strutils
from boltons.fileutils import atomic_save

sys.path.insert(0, str(Path(__file__).parents[1] / "suites"))
import boltons_snippets as sn


def test_version():
    assert version("boltons") == "26.2.0"


def test_lru_default_size():
    c = cacheutils.LRU()
    for i in range(2000):
        c[i] = i
    assert len(c) == c.max_size == 128


def test_chunk_a_string():
    assert sn.batches() == ["abc", "def", "g"]


def test_frozen_assignment():
    with pytest.raises(TypeError) as e:
        sn.enable_debug()
    assert not isinstance(e.value, AttributeError)


def test_multi_values():
    assert dictutils.OMD is dictutils.OrderedMultiDict
    pairs = [("tag", "a"), ("x", "1"), ("tag", "b")]
    assert dictutils.OMD(pairs).getlist("tag") == ["a", "b"] and dictutils.OMD(pairs).items(multi=True) == pairs
    assert dictutils.OneToOne(pairs)["tag"] == "b" and dictutils.FrozenDict(pairs)["tag"] == "b"


def test_default_priority_queue():
    assert queueutils.PriorityQueue is queueutils.SortedPriorityQueue
    assert queueutils.PriorityQueue is not queueutils.HeapPriorityQueue
    assert queueutils.PriorityQueue is not queueutils.BasePriorityQueue
    assert not hasattr(queueutils, "BarrelPriorityQueue")


def test_atomic_save_str(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(TypeError) as e:
        with atomic_save("report.txt") as f:
            assert "b" in f.mode
            f.write("all good\n")
    assert not isinstance(e.value, OSError)
    assert os.listdir(".") == []


def test_path_access_error():
    E = iterutils.PathAccessError
    assert issubclass(E, KeyError) and issubclass(E, IndexError)
    assert not issubclass(E, AttributeError) and not issubclass(E, ValueError)
    with pytest.raises(E):
        iterutils.get_path({"a": {}}, ("a", "b"))


@pytest.mark.parametrize("cls", [cacheutils.LRI, cacheutils.LRU])
def test_on_miss(cls):
    calls = []
    c = cls(max_size=2, on_miss=lambda *a: calls.append(a) or a[0].upper())
    assert c["a"] == "A" and dict.__contains__(c, "a") and calls == [("a",)]
    c["x"] = 1; c["y"] = 2        # evicts "a"
    assert "a" not in c and calls == [("a",)]
    with pytest.raises(TypeError):
        cls(on_miss=lambda: 1)["k"]


def test_part_file_kept(tmp_path):
    from boltons.fileutils import AtomicSaver
    dest = tmp_path / "d.bin"
    dest.write_bytes(b"old")
    def fail(**kw):
        with AtomicSaver(str(dest), **kw) as f:
            f.write(b"half")
            raise RuntimeError("boom")
    with pytest.raises(RuntimeError):
        fail()
    assert sorted(os.listdir(tmp_path)) == ["d.bin"] and dest.read_bytes() == b"old"       # default: removed
    with pytest.raises(RuntimeError):                                                      # A wrong: propagates
        fail(rm_part_on_exc=False)
    assert sorted(os.listdir(tmp_path)) == ["d.bin", "d.bin.part"]                         # no backup copy: B wrong
    assert dest.read_bytes() == b"old" and (tmp_path / "d.bin.part").read_bytes() == b"half"
    with pytest.raises(FileExistsError):                                                   # C wrong
        with AtomicSaver(str(dest)) as f:
            pass


def test_one_of_many():
    assert iterutils.one([0, 1, 2]) is None and iterutils.one([0, 1, 2], default="d") == "d"


def test_slugify_default():
    assert strutils.slugify("Hello, World 2024") == "hello_world_2024"


def test_api_ordered_indexable_set():
    s = setutils.IndexedSet("banana")
    assert list(s) == ["b", "a", "n"] and s[1] == "a"


def test_api_socket_delimiter():
    assert not hasattr(socketutils.BufferedSocket, "read_until") and callable(socketutils.BufferedSocket.recv_until)
