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

OCCURS = '''
def occurs(name):
    """Whether a word stands anywhere in the files of {distribution}: code, text or comment."""
    word = re.compile(rb"\\b" + re.escape(name.encode()) + rb"\\b")
    files = importlib.metadata.files({distribution!r})
    return any(word.search(file.locate().read_bytes()) for file in files)
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


ABSTRACT = '''
def signs(owner):
    """What marks a class as one to inherit from: abstract methods, ABC, its name, its docstring."""
    found = {name for name in dir(owner) if is_unfinished(inspect.getattr_static(owner, name))}
    if abc.ABC in owner.__bases__ or re.match("Base|Abstract", owner.__name__):
        found.add(owner.__name__)
    said = (owner.__doc__ or "").lower()
    if re.search(r"\\b(?:abstract|base class|subclass|inherit)", said):
        found.add("__doc__")
    return found


def is_unfinished(member):
    """Whether a method has to be written by whoever inherits it."""
    if getattr(member, "__isabstractmethod__", False):
        return True
    code = getattr(inspect.unwrap(member), "__code__", None) if callable(member) else None
    return code is not None and "NotImplementedError" in code.co_names
'''

CALLS = '''
def calls():
    """The keywords of every call of such a callback in the files of the distribution."""
    found = []
    for file in importlib.metadata.files(DISTRIBUTION):
        text = file.locate().read_text("utf-8", "replace") if file.suffix == ".py" else ""
        if CALLBACK in text:
            found += calls_in(ast.parse(text))
    assert all(found), "it is called with something that has no name"
    return found


def calls_in(tree):
    """A loop over a list of such callbacks calls each by the name that the loop gives it."""
    for loop in ast.walk(tree):
        if not isinstance(loop, ast.For) or not isinstance(loop.target, ast.Name):
            continue
        if CALLBACK not in getattr(loop.iter, "attr", ""):
            continue
        for call in ast.walk(loop):
            if isinstance(call, ast.Call) and getattr(call.func, "id", "") == loop.target.id:
                yield set() if call.args else {one.arg for one in call.keywords if one.arg}
'''
