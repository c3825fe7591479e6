"""Functions by which proofs read what the target says about its own names, as plain text."""

from __future__ import annotations

_ENTRIES = '''
def entries(owner, names):
    """What a docstring says of each name in its list of arguments."""
    places = (owner, getattr(owner, "__init__", None))
    said = "\\n".join(inspect.getdoc(one) or "" for one in places)
    for name in names:
        start = rf"^([ \\t]*)(?::param )?\\*{{0,2}}{name}\\b[^:\\n]*:[ \\t]*"
        entry = re.search(start + r"(.*(?:\\n\\1[ \\t]+\\S.*)*)", said, re.MULTILINE)
        yield name, entry[2] if entry else ""
'''

OF_FUNCTION = (
    _ENTRIES
    + '''

def documentation():
    """What is said about each parameter of OWNER."""
    return dict(entries(OWNER, inspect.signature(OWNER).parameters))
'''
)

OF_CLASS = (
    _ENTRIES
    + '''

def below_fields(owner):
    """The text that stands below each field in the source of a class."""
    body = ast.parse(textwrap.dedent(inspect.getsource(owner))).body[0].body
    for field, text in zip(body, body[1:]):
        is_text = isinstance(text, ast.Expr) and isinstance(text.value, ast.Constant)
        if isinstance(field, ast.AnnAssign) and is_text:
            yield field.target.id, str(text.value.value)


def documentation():
    """What is said about each parameter of OWNER: in docstrings, below fields, as description."""
    texts = dict(entries(OWNER, inspect.signature(OWNER).parameters))
    for one in reversed(OWNER.__mro__):
        is_own = one.__module__.partition(".")[0] == OWNER.__module__.partition(".")[0]
        if is_own and vars(one).get("__annotations__"):
            texts |= {name: text for name, text in below_fields(one) if name in texts}
    for name, field in getattr(OWNER, "model_fields", {}).items():
        if name in texts and field.description:
            texts[name] = field.description
    return texts
'''
)

OF_METHODS = '''
def documentation():
    """The first paragraph that is said of each public method of OWNER."""
    texts = {}
    for one in reversed(OWNER.__mro__[:-1]):
        for name, member in vars(one).items():
            is_old = hasattr(getattr(member, "__func__", member), "__deprecated__")
            if not name.startswith("_") and inspect.isroutine(member) and not is_old:
                texts[name] = (inspect.getdoc(member) or "").partition("\\n\\n")[0]
    return texts
'''

OF_CLASSES = '''
def documentation():
    """The first paragraph that is said of each public class in the files of the target."""
    texts = {}
    sources = [one for one in files() if one.suffix == ".py"]
    for text in (file.read_text("utf-8", "replace") for file in sources):
        for found in re.finditer(r"^class ([A-Za-z]\\w*)", text, re.MULTILINE):
            said = re.match(
                r'[^"]*?:\\s*\\n\\s+r?"""(.*?)(?:\\n\\s*\\n|""")', text[found.end() :], re.DOTALL
            )
            texts[found[1]] = said[1] if said else texts.get(found[1], "")
    return texts
'''

OF_COMMAND = '''
def documentation():
    """The help of each option of the command."""
    (script,) = entry_points(group="console_scripts", name=PROGRAM)
    found = script.load()
    for name in SUBCOMMANDS:
        found = found.get_command(click.Context(found), name)
    return {one.opts[0]: getattr(one, "help", None) or "" for one in found.params}
'''
