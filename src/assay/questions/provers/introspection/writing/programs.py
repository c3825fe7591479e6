"""Functions by which proofs run the code of a question, as plain text."""

from __future__ import annotations

_RUN = '''
def run():
    """Run the code as a program of its own."""
    names = {"__name__": "__main__"}
    exec(SETUP, names)
    exec(CODE, names)
'''

RAISED = (
    _RUN
    + '''

def raised():
    """What the code raises, or None; what any code may meet says nothing about this one."""
    try:
        run()
    except (ImportError, NameError, OSError, MemoryError, RecursionError) as error:
        raise error
    except Exception as error:
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
    except (ImportError, NameError, OSError, MemoryError, RecursionError) as error:
        raise error
    except Exception as error:
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

ENDING = (
    _RUN
    + '''

def ending():
    """Whether the code runs or raises; what any code may meet counts as neither."""
    try:
        run()
    except (ImportError, NameError, OSError, MemoryError, RecursionError) as error:
        raise error
    except Exception as error:
        return "raises" if str(error) is not None else ""
    return "runs"
'''
)

VALUE = '''
def value():
    """What the expression is worth."""
    names = {"__name__": "__main__"}
    exec(SETUP, names)
    return eval(CODE, names)
'''

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
