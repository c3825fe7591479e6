import os

from openai import OpenAI, pydantic_function_tool
from pydantic import BaseModel


# --8<-- [start:no_key]
def build():
    for name in ("OPENAI_API_KEY", "OPENAI_ADMIN_KEY"):
        os.environ.pop(name, None)
    return OpenAI()
# --8<-- [end:no_key]


# --8<-- [start:tool]
class GetWeather(BaseModel):
    """Look up the weather of a city."""

    city: str


def describe():
    tool = pydantic_function_tool(GetWeather)
    print(tool["type"], tool["function"]["name"], tool["function"]["strict"])
# --8<-- [end:tool]
