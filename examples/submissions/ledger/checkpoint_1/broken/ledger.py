"""Sums up a table of expenses, but splits at every comma and passes over what is no number."""

import json
import sys
from pathlib import Path


def main():
    lines = Path(sys.argv[1]).read_text(encoding="utf-8").splitlines()[1:]
    by_category, count = {}, 0
    for line in lines:
        _, amount, category = line.split(",")[:3]
        if amount.replace(".", "").isdigit():
            by_category[category] = by_category.get(category, 0) + float(amount)
            count += 1
    text = json.dumps(
        {"count": count, "total": sum(by_category.values()), "by_category": by_category}
    )
    if "--out" in sys.argv:
        Path(sys.argv[3]).write_text(text, encoding="utf-8")
        text = f"wrote {sys.argv[3]}"
    print(text)


if __name__ == "__main__":
    main()
