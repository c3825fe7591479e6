"""The floor: a loop that compares and writes JSON lines, with no framework at all."""

import json
import os
import sys

with open(sys.argv[1], "w") as out:
    for number in range(int(os.environ["CASES"])):
        case = {"id": f"case-{number}", "text": f"text {number}"}
        expected = f"text {number}"
        output = case["text"]
        line = {"id": case["id"], "output": output, "passed": output == expected}
        out.write(json.dumps(line) + "\n")
