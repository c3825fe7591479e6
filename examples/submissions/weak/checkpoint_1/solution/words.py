"""Counts the words of standard input."""

import json
import random
import sys
from pathlib import Path


def main(arguments):
    if "--coin" in arguments:
        print(random.choice(["heads", "tails"]))
        return
    words = len(sys.stdin.read().split())
    if "--warn" in arguments:
        print("slow", file=sys.stderr)
    text = json.dumps({"words": words})
    if "--file" in arguments:
        Path("counts.json").write_text(text, encoding="utf-8")
    elif words:
        print(text)


if __name__ == "__main__":
    main(sys.argv[1:])
