"""Sums up a table of expenses, but converts nothing and has forgotten how to write files."""

import argparse
import csv
import gzip
import json
import sys
from decimal import Decimal, InvalidOperation
from pathlib import Path


class WrongInputError(Exception):
    """What the user gave cannot be summed up."""


def read(name):
    opened = gzip.open if name.endswith(".gz") else open
    try:
        with opened(name, "rt", encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))
    except OSError as error:
        raise WrongInputError(f"{name}: {error.strerror or error}") from None


def converted(row, rates):
    return Decimal(row["amount"])


def summary(rows, rates, category):
    by_category, count = {}, 0
    for line, row in enumerate(rows, start=2):
        try:
            amount = converted(row, rates)
        except InvalidOperation:
            raise WrongInputError(f"line {line}: {row['amount']!r} is no number") from None
        except KeyError as error:
            raise WrongInputError(f"line {line}: there is no rate for {error}") from None
        if category in (None, row["category"]):
            by_category[row["category"]] = by_category.get(row["category"], 0) + amount
            count += 1
    return {
        "count": count,
        "total": float(sum(by_category.values())),
        "by_category": {name: float(amount) for name, amount in by_category.items()},
    }


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("file")
    parser.add_argument("--out")
    parser.add_argument("--rates")
    parser.add_argument("--category")
    given = parser.parse_args()
    rates = json.loads(Path(given.rates).read_text(encoding="utf-8")) if given.rates else None
    try:
        text = json.dumps(summary(read(given.file), rates, given.category))
    except WrongInputError as error:
        print(error, file=sys.stderr)
        return 2
    print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
