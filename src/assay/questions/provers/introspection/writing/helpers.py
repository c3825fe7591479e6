"""Functions that proofs carry with them, as plain text: a proof imports nothing of Assay."""

from __future__ import annotations

NAMES_OF_CLASS = '''
def names(owner):
    """All that the class has or takes: members, attributes it sets, {what}."""
    found = set(dir(owner)){signature}
    for one in owner.__mro__:
        found |= set(getattr(one, "__annotations__", {{}}))
        for member in vars(one).values():
            found |= set(assigned(getattr(member, "__func__", member)))
{fields}    return found


def assigned(function):
    """The attributes that a function sets, such as `self.name`."""
    code = getattr(function, "__code__", None)
    steps = dis.get_instructions(code) if code else ()
    return (one.argval for one in steps if one.opname == "STORE_ATTR")
'''
_SIGNATURE = " | set(inspect.signature(owner).parameters)"
_FIELDS = """\
    for name, field in owner.model_fields.items():
        found |= {name, field.alias, field.validation_alias, field.serialization_alias}
"""

FILES = '''
def files():
    """The files of the target: those its distribution lists, and those where its packages lie."""
    listed = importlib.metadata.files(DISTRIBUTION) or ()
    found = {pathlib.Path(one.locate()).resolve() for one in listed}
    for package in PACKAGES:
        spec = importlib.util.find_spec(package)
        for folder in spec.submodule_search_locations or ():
            found |= set(pathlib.Path(folder).resolve().rglob("*"))
        found |= {pathlib.Path(spec.origin).resolve()} if spec.has_location else set()
    return sorted(one for one in found if one.is_file())
'''
FILES_IMPORTS = ("import importlib.metadata", "import importlib.util", "import pathlib")

OCCURS = '''
def occurs(name):
    """Whether a word stands anywhere in the files of the target: code, text or comment."""
    word = re.compile(rb"\\b" + re.escape(name.encode()) + rb"\\b")
    return any(word.search(file.read_bytes()) for file in files())
'''

IMPORTS = '''
def works(statement):
    """Whether an import runs; only that what it names is not there counts as a no."""
    try:
        exec(statement, {})
    except ImportError as error:
        if not is_about(statement, error):
            raise
        return False
    return True


def is_about(statement, error):
    """Whether it is the disputed path itself that is missing, and nothing that lies behind it."""
    for cause in (error.__cause__, error.__context__):
        if isinstance(cause, ImportError):
            return is_about(statement, cause)
    paths = re.findall(r"[\\w.]+", statement)
    if isinstance(error, ModuleNotFoundError):
        return any(f"{path}.".startswith(f"{error.name}.") for path in paths)
    said = str(error)
    is_named = any(re.search(rf"\\b{re.escape(name)}\\b", said) for name in paths[3:])
    return is_named and not re.search("install|extra|require", said)
'''

COMMAND = '''
def options():
    """The options of the command, as click holds them."""
    (script,) = entry_points(group="console_scripts", name=PROGRAM)
    found = script.load()
    for name in SUBCOMMANDS:
        found = found.get_command(click.Context(found), name)
    assert not found.ignore_unknown_options
    return {text for one in found.params for text in (*one.opts, *one.secondary_opts)}
'''


def names_of_class(*, has_signature: bool, has_fields: bool) -> str:
    """The helper `names(owner)`, with what the class in question has."""
    return NAMES_OF_CLASS.format(
        what="fields and parameters" if has_fields or has_signature else "annotations",
        signature=_SIGNATURE if has_signature else "",
        fields=_FIELDS if has_fields else "",
    )


SORTS_IMPORTS = (
    "import collections.abc", "import functools", "import inspect", "import re", "import types",
)  # fmt: skip
SORTS_OF_METHOD = '''
def sorts(member):
    """What sort of member it is; of what some other decorator made nothing is known."""
    function = getattr(member, "__func__", member)
    if isinstance(member, (property, functools.cached_property)):
        return {property}
    if not inspect.isfunction(function) or hasattr(function, "__wrapped__"):
        raise LookupError(f"what {member!r} is cannot be told")
    found = {type(member)}
    if inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function):
        found.add(collections.abc.Awaitable)
    elif re.search("Await|Async|Corout|Future|Task", str(inspect.signature(function))):
        raise LookupError(f"{member!r} may well give something to wait for")
    return found
'''
