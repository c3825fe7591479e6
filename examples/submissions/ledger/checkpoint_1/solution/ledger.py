"""Sums up a table of expenses."""

import argparse
import csv
import json
import sys
from decimal import Decimal, InvalidOperation
from pathlib import Path


class WrongInputError(Exception):
    """What the user gave cannot be summed up."""


def read(name):
    try:
        with Path(name).open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))
    except OSError as error:
        raise WrongInputError(f"{name}: {error.strerror}") from None


def summary(rows):
    by_category = {}
    for line, row in enumerate(rows, start=2):
        try:
            amount = Decimal(row["amount"])
        except InvalidOperation:
            raise WrongInputError(f"line {line}: {row['amount']!r} is no number") from None
        by_category[row["category"]] = by_category.get(row["category"], 0) + amount
    return {
        "count": len(rows),
        "total": float(sum(by_category.values())),
        "by_category": {name: float(amount) for name, amount in by_category.items()},
    }


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("file")
    parser.add_argument("--out")
    given = parser.parse_args()
    try:
        text = json.dumps(summary(read(given.file)))
    except WrongInputError as error:
        print(error, file=sys.stderr)
        return 2
    if given.out:
        Path(given.out).write_text(text, encoding="utf-8")
        text = f"wrote {given.out}"
    print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
