"""Snippets for the python-dotenv questions."""
import os
from io import StringIO

from dotenv import dotenv_values, load_dotenv


# --8<-- [start:existing]
def effective_mode():
    os.environ["APP_MODE"] = "production"
    load_dotenv(stream=StringIO("APP_MODE=development\n"))
    return os.environ["APP_MODE"]
# --8<-- [end:existing]


# --8<-- [start:expansion]
# neither QZ_HOST nor QZ_PORT is defined in the environment
ENV_TEXT = """
URL=http://${QZ_HOST:-localhost}/
PORT=$QZ_PORT
"""


def show():
    values = dotenv_values(stream=StringIO(ENV_TEXT))
    print(values["URL"], values["PORT"])
# --8<-- [end:expansion]
