import inspect
import json
import os
import pkgutil
import subprocess
import sys

import fsspec
import pytest
from fsspec.implementations.local import LocalFileSystem
from fsspec.implementations.memory import MemoryFileSystem

import fsspec_snippets


@pytest.fixture
def mem():
    fs = fsspec.filesystem("memory")
    fs.store.clear()
    fs.pseudo_dirs[:] = [""]
    return fs


def test_version():
    assert fsspec.__version__ == "2026.9.0"


def test_unknown_protocol():
    with pytest.raises(ValueError) as e:
        fsspec.filesystem("nosuchthing")
    assert not isinstance(e.value, (ImportError, KeyError, NotImplementedError))


def test_get_local_filesystem():
    assert isinstance(fsspec.filesystem("file"), LocalFileSystem)
    assert isinstance(fsspec.filesystem("local"), LocalFileSystem)
    for bad in ("disk", "posix"):
        with pytest.raises(ValueError):
            fsspec.filesystem(bad)


def test_write_in_transaction(mem, capsys):
    fsspec_snippets.save()
    assert capsys.readouterr().out == "False True\n"


def test_default_read_cache():
    from fsspec.spec import AbstractBufferedFile

    assert inspect.signature(AbstractBufferedFile.__init__).parameters["cache_type"].default == "readahead"


def test_local_listing():
    out = LocalFileSystem().ls("/tmp")
    assert isinstance(out, list) and all(isinstance(x, str) for x in out)
    assert inspect.signature(LocalFileSystem.ls).parameters["detail"].default is False


def test_local_listing_of_files(tmp_path):
    (tmp_path / "a").write_text("x")
    assert LocalFileSystem().ls(str(tmp_path)) == [str(tmp_path / "a")]


def test_cat_a_glob(mem, capsys):
    fsspec_snippets.show_logs()
    assert capsys.readouterr().out == "{'/logs/a.txt': b'1', '/logs/b.txt': b'2'}\n"


def test_filecache_expiry(mem, tmp_path):
    fs = fsspec.filesystem("filecache", target_protocol="memory", cache_storage=str(tmp_path))
    assert fs.expiry == 7 * 24 * 3600


def test_simplecache_or_filecache(mem, tmp_path):
    from fsspec.implementations.cached import SimpleCacheFileSystem, WholeFileCacheFileSystem

    assert fsspec.get_filesystem_class("simplecache") is SimpleCacheFileSystem
    assert fsspec.get_filesystem_class("filecache") is WholeFileCacheFileSystem
    assert SimpleCacheFileSystem is not WholeFileCacheFileSystem
    mem.pipe("/x.bin", b"a" * 100)
    for name in ("simplecache", "filecache"):
        d = tmp_path / name
        fs = fsspec.filesystem(name, target_protocol="memory", cache_storage=str(d), check_files=True)
        with fs.open("/x.bin") as f:
            f.read(1)
        copies = [p for p in d.iterdir() if p.name != "cache"]
        assert [p.stat().st_size for p in copies] == [100]  # whole file, on disk
        if name == "filecache":
            fs.save_cache()
            assert (d / "cache").exists()
        else:
            assert not (d / "cache").exists()
    # the remote file changes: filecache with check_files notices, simplecache does not
    mem.pipe("/x.bin", b"b" * 50)
    read = {}
    for name in ("simplecache", "filecache"):
        fs = fsspec.filesystem(
            name, target_protocol="memory", cache_storage=str(tmp_path / name), check_files=True, skip_instance_cache=True
        )
        with fs.open("/x.bin") as f:
            read[name] = f.read(1)
    assert read == {"simplecache": b"a", "filecache": b"b"}


def test_move_a_file(mem):
    for method in ("mv", "rename"):
        mem.store.clear()
        mem.pipe("/a.csv", b"1")
        getattr(mem, method)("/a.csv", "/b.csv")
        assert not mem.exists("/a.csv") and mem.cat("/b.csv") == b"1"
    assert not hasattr(mem, "shift") and not hasattr(mem, "transfer")


def test_filesystem_below_a_directory(mem):
    from fsspec.implementations.dirfs import DirFileSystem

    mem.pipe("/base/a.txt", b"1")
    assert DirFileSystem("/base", mem).cat("a.txt") == b"1"
    root = os.path.dirname(fsspec.__file__)
    text = "".join(
        open(os.path.join(d, f)).read() for d, _, fs in os.walk(root) for f in fs if f.endswith(".py") and "tests" not in d
    )
    for bad in ("PrefixFileSystem", "ChrootFileSystem", "SubFileSystem"):
        assert f"class {bad}" not in text


def test_config_directory(tmp_path):
    (tmp_path / "c.json").write_text(json.dumps({"memory": {"zz": 1}}))
    code = "import fsspec.config as c; print(c.conf.get('memory'))"

    def run(var):
        env = {k: v for k, v in os.environ.items() if not k.startswith("FSSPEC")}
        env[var] = str(tmp_path)
        return subprocess.run([sys.executable, "-W", "ignore", "-c", code], env=env, capture_output=True, text=True).stdout.strip()

    assert run("FSSPEC_CONFIG_DIR") == "{'zz': 1}"
    for bad in ("FSSPEC_HOME", "FSSPEC_CONF", "FSSPEC_CONFIG_PATH"):
        assert run(bad) == "None"


def test_read_without_with(mem):
    mem.pipe("/notes.txt", b"hi")
    with pytest.raises(AttributeError):
        fsspec.open("memory://notes.txt").read()


def test_api_base_of_filesystems():
    import fsspec.spec

    assert fsspec.AbstractFileSystem is fsspec.spec.AbstractFileSystem
    assert issubclass(MemoryFileSystem, fsspec.AbstractFileSystem) and issubclass(LocalFileSystem, fsspec.AbstractFileSystem)


def test_api_async_open():
    from fsspec.asyn import AsyncFileSystem
    from fsspec.spec import AbstractFileSystem

    assert not hasattr(AbstractFileSystem, "open_async")
    assert inspect.iscoroutinefunction(AsyncFileSystem.open_async)
