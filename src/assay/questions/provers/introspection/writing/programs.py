"""Functions by which proofs run the code of a question, as plain text."""

from __future__ import annotations

# What every helper below needs.
PROGRAM_IMPORTS = ("import re", "import sys")

_RUN = '''
REACHED = []
sys.addaudithook(
    lambda event, _: (
        REACHED.append(event) if event in ("socket.connect", "socket.getaddrinfo") else None
    )
)


def run():
    """Run the code as a program of its own; what wanted the network has not shown anything."""
    names = {"__name__": "__main__"}
    exec(SETUP, names)
    exec(CODE, names)
    check_network()


def check_network():
    if REACHED:
        raise ConnectionError("the code wants the network, which is not to be had here")


def is_ambient(error):
    """Whether any code may meet it here: a missing module, name, file, network or credential."""
    if REACHED or isinstance(error, AMBIENT):
        return True
    if re.search(r"credential|api[ _-]?key|authenticat|unauthori[sz]ed", str(error), re.IGNORECASE):
        return True
    behind = (error.__cause__, error.__context__)
    return any(is_ambient(one) for one in behind if one is not None)


AMBIENT = (ImportError, NameError, OSError, MemoryError, RecursionError)
'''

RAISED = (
    _RUN
    + '''

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

def outcome():
    """What the code prints, or what it raises; what any code may meet counts as neither."""
    printed = io.StringIO()
    try:
        with contextlib.redirect_stdout(printed):
            run()
    except Exception as error:
        if is_ambient(error):
            raise
        return f"raises {type(error).__name__}"
    return "\\n".join(line.rstrip() for line in printed.getvalue().strip().splitlines())
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

def value():
    """What the expression is worth."""
    names = {"__name__": "__main__"}
    exec(SETUP, names)
    found = eval(CODE.strip(), names)
    check_network()
    return found


def may_be_told_as(found, said):
    """Whether a value is equal, or an object that a person may well describe so."""
    if type(found) in (int, float, str, bytes, bool, list, tuple, dict, set, type(None)):
        return found == said
    return said in (found, getattr(found, "value", found), str(found), repr(found))
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
