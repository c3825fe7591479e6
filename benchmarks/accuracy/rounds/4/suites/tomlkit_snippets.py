import tomlkit

# --8<-- [start:flag]
CONFIG = """
[server]
debug = true
"""


def flag_type():
    doc = tomlkit.parse(CONFIG)
    print(type(doc["server"]["debug"]).__name__)
# --8<-- [end:flag]


# --8<-- [start:multiline]
def render():
    numbers = tomlkit.array("[1, 2]")
    numbers.multiline(True)
    print(numbers.as_string())
# --8<-- [end:multiline]
