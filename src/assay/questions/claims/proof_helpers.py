"""Source text of functions that are copied into proofs, which import nothing from Assay."""

from __future__ import annotations

NAMES_OF_CLASS = '''
@functools.cache
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
    if code is None or dis.opmap["STORE_ATTR"] not in code.co_code[::2]:
        return ()  # most set none, and it takes long to read their instructions
    return (one.argval for one in dis.get_instructions(code) if one.opname == "STORE_ATTR")
'''
_SIGNATURE = " | set(inspect.signature(owner).parameters)"
_FIELDS = "    found |= fields(owner)\n"
_FIELDS_OF_MODEL = '''

def fields(owner):
    """The fields of a model, by their names and aliases."""
    found = set(owner.model_fields)
    for field in owner.model_fields.values():
        found |= {field.alias, field.validation_alias, field.serialization_alias}
    return found
'''

FILES = '''
@functools.cache
def files():
    """The files of the target: those its distribution lists, and those where its packages lie."""
    listed = importlib.metadata.files(DISTRIBUTION) or ()
    found = {os.path.abspath(one.locate()) for one in listed if one.suffix != ".pyc"}
    for package in PACKAGES:
        spec = importlib.util.find_spec(package)
        for folder in spec.submodule_search_locations or ():
            for inner_folder, _, inner_files in os.walk(os.path.abspath(folder)):
                found |= {os.path.join(inner_folder, one) for one in inner_files}
        found |= {os.path.abspath(spec.origin)} if spec.has_location else set()
    return sorted(one for one in found if "__pycache__" not in one and os.path.isfile(one))
'''
FILES_IMPORTS = (
    "import functools",
    "import importlib.metadata",
    "import importlib.util",
    "import os",
)

OCCURS = '''
@functools.cache
def occurs(name):
    """Whether a word stands anywhere in the files of the target: code, text or comment."""
    word = name.encode()
    whole = re.compile(rb"\\b" + re.escape(word) + rb"\\b")
    for file in files():
        with open(file, "rb") as opened_file:
            text = opened_file.read()
        if word in text and whole.search(text):
            return True
    return False
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
    # The interpreter's own words: what the names of the module and its file contain means nothing.
    if plain := re.fullmatch(r"cannot import name '(\\w+)' from '[\\w.]+' \\(.*\\)", said):
        return plain[1] in paths[3:]
    is_named = any(re.search(rf"\\b{re.escape(name)}\\b", said) for name in paths[3:])
    return is_named and not re.search("install|extra|require", said)
'''

COMMAND_IMPORTS = (
    "import argparse", "import functools", "import importlib", "import optparse", "import sys",
    "from importlib.metadata import entry_points",
)  # fmt: skip
COMMAND = '''
class Caught(BaseException):
    """Carries the parser out of the script that starts it."""


def catch(a_parser, *_, **__):
    raise Caught(a_parser)


@functools.cache
def parser():
    """The command, as click, argparse or optparse holds it."""
    (script,) = entry_points(group="console_scripts", name=PROGRAM)
    found = script.load()
    if not hasattr(found, "make_context"):
        found = start(found)
    for name in SUBCOMMANDS:
        if isinstance(found, argparse.ArgumentParser):
            (found,) = (one.choices[name] for one in found._actions if is_branch(one))
        else:
            found = found.get_command(context(found), name)
    return found


def context(command):
    return command.make_context(PROGRAM, [], resilient_parsing=True)


def start(function):
    """Start a script; it ends where it would read its arguments."""
    sys.argv[:] = [PROGRAM]
    argparse.ArgumentParser.parse_known_args = catch
    optparse.OptionParser.parse_args = catch
    for module, owner in CLICK:
        if module in sys.modules:
            setattr(getattr(sys.modules[module], owner), "main", catch)
    try:
        function()
    except Caught as caught:
        return caught.args[0]
    raise LookupError(f"{PROGRAM} has no parser that is known here")


def is_branch(action):
    return isinstance(action, argparse._SubParsersAction)


@functools.cache
def options():
    """The options of the command."""
    found = parser()
    if isinstance(found, argparse.ArgumentParser):
        return set(found._option_string_actions)
    if isinstance(found, optparse.OptionParser):
        return {*found._short_opt, *found._long_opt}
    assert not found.ignore_unknown_options
    return {text for one in found.params for text in (*one.opts, *one.secondary_opts)}


def is_short_for(option):
    """Whether a parser would take it for the beginning of one of its options."""
    takes_beginnings = not hasattr(parser(), "make_context")
    return takes_beginnings and any(one.startswith(option) for one in options())
'''


def names_of_class(*, has_signature: bool, has_fields: bool) -> str:
    """Return the helper `names(owner)`, with what the class in question has."""
    return NAMES_OF_CLASS.format(
        what="fields and parameters" if has_fields or has_signature else "annotations",
        signature=_SIGNATURE if has_signature else "",
        fields=_FIELDS if has_fields else "",
    ) + (_FIELDS_OF_MODEL if has_fields else "")


_SAME = '''
def is_same_value(one, other):
    """Whether two values are equal, and True is not 1; a number may be whole or not."""
    numbers = isinstance(one, (int, float)) and isinstance(other, (int, float))
    if isinstance(one, bool) is not isinstance(other, bool):
        return False
    return one == other and (numbers or type(one) is type(other))
'''

IS_DEFAULT = (
    '''
def is_default(value):
    """Whether the parameter has this value if none is given, be it made by a factory."""
    fields = {**getattr(OWNER, "__dataclass_fields__", {}), **getattr(OWNER, "model_fields", {})}
    factory = getattr(fields.get(PARAMETER.name), "default_factory", None)
    default = factory() if callable(factory) else PARAMETER.default
    if repr(default) in ("<factory>", "NOTHING"):
        raise LookupError("what the factory makes is not known")
    return is_same_value(default, value)

'''
    + _SAME
)

ACCEPTS = '''
def accepts(keywords):
    """Whether the signature takes these keywords beside the positional arguments."""
    try:
        SIGNATURE.bind_partial(*POSITIONAL, **dict.fromkeys(keywords))
    except TypeError:
        return False
    return True
'''

# Names have two words, so that none is a name in dispute.
FIND_OWNER = '''
def find_owner(dotted_path):
    """Import as much of a dotted path as is a module, and look the rest up in it."""
    path_parts = dotted_path.split(".")
    for part_count in range(len(path_parts), 0, -1):
        module_path = ".".join(path_parts[:part_count])
        try:
            found_value = importlib.import_module(module_path)
        except ModuleNotFoundError as import_error:
            # Only that this very path has no such part is absence; all else is another failure.
            missing_path = import_error.name
            if missing_path is None or not f"{module_path}.".startswith(f"{missing_path}."):
                raise
            continue
        return found_value, path_parts[part_count:]
    return None, path_parts
'''

EXISTS = (
    FIND_OWNER
    + '''

def exists(path):
    """Whether a dotted path leads to something, or to a field that a class only declares."""
    owner, names = find_owner(path)
    if owner is None:
        return False
    for name in names[:-1]:
        if not hasattr(owner, name):
            return False
        owner = getattr(owner, name)
    return not names or hasattr(owner, names[-1]) or is_declared(owner, names[-1])


def is_declared(owner, name):
    """Whether a class declares a field that it does not carry as an attribute."""
    classes = getattr(owner, "__mro__", ())
    return any(name in vars(one).get("__annotations__", {}) for one in classes)
'''
)

FOUND = (
    FIND_OWNER
    + '''

def found(path):
    """What a dotted path leads to, None if it leads nowhere."""
    value, names = find_owner(path)
    for name in names:
        value = getattr(value, name, None)
    return value
'''
)

IS_ONE = '''
def is_one(value, other):
    """Whether two names stand for one object, for the same plain value, or for the same call."""
    is_plain = type(value) is type(other) and type(value) in (bytes, float, int, str)
    is_equal = value is other or (is_plain and value == other)
    return is_equal or hands_on(value, other) or hands_on(other, value)


def hands_on(value, other):
    """Whether a function does nothing but call another with all that it is given.

    It is run with nothing else to use; that it wants more is an error, and shows nothing.
    """
    is_plain = inspect.isfunction(value) and not value.__closure__ and callable(other)
    if not is_plain or value.__code__.co_names != (getattr(other, "__name__", ""),):
        return False
    calls, answer = [], object()

    def record(*given, **named):
        calls.append((given, named))
        return answer

    given, named = make_arguments(value)
    holder = types.SimpleNamespace(**{other.__name__: record})
    known = {"__builtins__": {}, **({} if IS_METHOD else vars(holder))}
    code = types.FunctionType(value.__code__, known, "code", value.__defaults__)
    result = code(*([holder] if IS_METHOD else []), *given, **named)
    returns_nothing = inspect.signature(other).return_annotation in (None, "None")
    return (
        (result is answer or (result is None and returns_nothing))
        and len(calls) == len(vars(holder)) == 1
        and bound(other, *calls[0]) == bound(value, given, named)
        and defaults(value) == defaults(other)[: len(defaults(value))]
    )


def parameters(function):
    return list(inspect.signature(function).parameters.values())[IS_METHOD:]


def defaults(function):
    return [one.default for one in parameters(function)]


def make_arguments(function):
    """Something of its own for every parameter."""
    given, named = [], {}
    for one in parameters(function):
        if one.kind in (one.KEYWORD_ONLY, one.VAR_KEYWORD):
            named[one.name] = object()
        else:
            given.append(object())
    return given, named


def bound(function, given, named):
    """The arguments in the order of the parameters that they are for."""
    own = [None] * IS_METHOD
    found = inspect.signature(function).bind(*own, *given, **named)
    return list(found.arguments.values())[IS_METHOD:]
'''

CONSTANT = (
    '''
def values(found):
    """The value itself and, of a member of an enumeration, what it stands for."""
    return [found.value, found] if isinstance(found, enum.Enum) else [found]


def is_value(found, value):
    return any(is_same_value(one, value) for one in values(found))

'''
    + _SAME
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


PLAIN = '''
def plain(kind):
    """A type without regard to how it is written: `Optional[str]` is `str | None`."""
    if isinstance(kind, (str, typing.ForwardRef)) and kind is not DISPUTED:
        raise LookupError(f"{kind!r} is a type that cannot be looked up")
    if isinstance(kind, list):
        return tuple(plain(one) for one in kind)
    origin, parts = typing.get_origin(kind), typing.get_args(kind)
    if origin is typing.Annotated:
        return plain(parts[0])
    if origin in (typing.Union, types.UnionType):
        return frozenset(plain(one) for one in parts)
    if origin is typing.Literal or not parts:
        return type(None) if kind is None else origin if origin and not parts else kind
    return origin, tuple(plain(one) for one in parts)
'''

APART = '''
def atoms(kind):
    """All that a type is made of."""
    if isinstance(kind, (tuple, frozenset)):
        return {atom for one in kind for atom in atoms(one)}
    return {kind}


def are_apart(one, other):
    """Whether two types have nothing in common, so that neither is a way to speak of the other."""
    pairs = [(a, b) for a in atoms(plain(one)) for b in atoms(plain(other))]
    return not any(is_kin(a, b) or is_kin(b, a) for a, b in pairs)


def is_kin(one, other):
    """Whether one is the other, inherits from it, or stands for anything."""
    if one == other or one in (object, typing.Any, ...) or isinstance(one, typing.TypeVar):
        return True
    return isinstance(one, type) and isinstance(other, type) and issubclass(one, other)
'''


PROGRAM_IMPORTS = ("import functools", "import re", "import sys")

_RUN = '''
REACHED = []
sys.addaudithook(
    lambda event, _: (
        REACHED.append(event) if event in ("socket.connect", "socket.getaddrinfo") else None
    )
)


def run():
    """Run the code as a program of its own; what wanted the network has not shown anything."""
    names, value = {"__name__": "__main__"}, None
    sys.argv[1:] = []
    try:
        exec(SETUP, names)
        value = eval(CODE.strip(), names) if IS_EXPRESSION else exec(CODE, names)
    except SystemExit as end:
        if end.code:
            raise
    check_network()
    return value


def check_network():
    if REACHED:
        raise ConnectionError("the code wants the network, which is not to be had here")


def is_ambient(error):
    """Whether any code may meet it here: a missing module, name, file, network or credential."""
    if REACHED or (isinstance(error, AMBIENT) and not is_own(error)):
        return True
    if re.search(r"credential|api[ _-]?key|authenticat|unauthori[sz]ed", str(error), re.IGNORECASE):
        return True
    behind = (error.__cause__, error.__context__)
    return any(is_ambient(one) for one in behind if one is not None)


def is_own(error):
    """Whether it is an OSError of the library's own, which says nothing about the machine."""
    package = type(error).__module__.partition(".")[0]
    return isinstance(error, OSError) and package not in sys.stdlib_module_names


AMBIENT = (ImportError, NameError, OSError, MemoryError, RecursionError)
'''

RAISED = (
    _RUN
    + '''

@functools.cache
def raised():
    """What the code raises, or None; what any code may meet says nothing about this one."""
    try:
        run()
    except Exception as error:
        if is_ambient(error):
            raise
        return error
    return None
'''
)

OUTCOME = (
    _RUN
    + '''

@functools.cache
def outcome():
    """What the code prints, or what it raises; what any code may meet counts as neither."""
    printed, value = io.StringIO(), None
    try:
        with contextlib.redirect_stdout(printed):
            value = run()
    except Exception as error:
        if is_ambient(error):
            raise
        return f"raises {type(error).__name__}"
    text = printed.getvalue() or (value if isinstance(value, str) else "")
    return "\\n".join(line.rstrip() for line in text.strip().splitlines())
'''
)

LOOSE = '''
def loose(text):
    """A text without regard to quotes and to how a literal is written."""
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return " ".join(text.split())
    return value if isinstance(value, str) else repr(value)
'''

VALUE = (
    _RUN
    + '''

class Raised:
    """What took the place of a value."""

    def __init__(self, error):
        self.error = error


@functools.cache
def value():
    """What the expression evaluates to; an exception takes its place."""
    names = {"__name__": "__main__"}
    exec(SETUP, names)
    try:
        found = eval(CODE.strip(), names)
    except Exception as error:
        if is_ambient(error):
            raise
        return Raised(error)
    check_network()
    return found


def may_be_told_as(found, said):
    """Whether a value is equal, or an object that a person may well describe so."""
    if isinstance(found, Raised):
        return False
    if type(found) in (int, float, str, bytes, bool, list, tuple, dict, set, type(None)):
        return found == said
    if said in (found, getattr(found, "value", found), str(found), repr(found)):
        return True
    raise LookupError(f"a {type(found).__name__} may be described in many ways")
'''
)

WARNED = (
    _RUN
    + '''

@functools.cache
def warned():
    """The classes of all warnings that the code gives."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        run()
    return [one.category for one in caught]
'''
)

CONTROL = """
names = {}
exec(SETUP, names)
assert names
"""


def literal(code: str) -> str:
    """Code as a string of a proof, readable where it can be."""
    if "\\" in code or '"""' in code or not code:
        return repr(code)
    return f'"""\n{code}\n"""'
