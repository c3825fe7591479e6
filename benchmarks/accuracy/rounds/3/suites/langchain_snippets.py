from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, trim_messages
from langchain_core.tools import tool


# --8<-- [start:undocumented_tool]
def build_tool():
    @tool
    def multiply(a: int, b: int) -> int:
        return a * b

    return multiply
# --8<-- [end:undocumented_tool]


# --8<-- [start:trim]
def shorten():
    history = [
        SystemMessage("s"),
        HumanMessage("h1"),
        AIMessage("a1"),
        HumanMessage("h2"),
    ]
    kept = trim_messages(
        history,
        max_tokens=2,
        token_counter=len,  # every message counts as one token
        include_system=True,
    )
    print([m.content for m in kept])
# --8<-- [end:trim]
