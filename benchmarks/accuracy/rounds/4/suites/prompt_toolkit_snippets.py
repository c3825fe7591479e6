from prompt_toolkit.completion import CompleteEvent, WordCompleter
from prompt_toolkit.document import Document
from prompt_toolkit.filters import Condition


# --8<-- [start:words]
def suggestions():
    completer = WordCompleter(["apple", "Apricot", "banana", "grape"])
    found = completer.get_completions(Document("ap"), CompleteEvent())
    print([completion.text for completion in found])
# --8<-- [end:words]


# --8<-- [start:condition]
debug_enabled = Condition(lambda: True)


def show_status():
    if debug_enabled:
        print("debug on")
    else:
        print("debug off")
# --8<-- [end:condition]
