from jsonschema import Draft202012Validator

# --8<-- [start:where]
SCHEMA = {
    "type": "object",
    "properties": {
        "tags": {"type": "array", "items": {"type": "string"}},
    },
}


def where():
    validator = Draft202012Validator(SCHEMA)
    for error in validator.iter_errors({"tags": ["a", 2, "c"]}):
        print(error.json_path)
# --8<-- [end:where]


# --8<-- [start:whole_numbers]
def whole_numbers():
    validator = Draft202012Validator({"type": "integer"})
    print(validator.is_valid(3.0), validator.is_valid(True))
# --8<-- [end:whole_numbers]
