"""Does `read_price` read prices as people write them? An evaluation with two planted bugs.

    assay run examples/evaluation/prices.py

`read_price` stands for whatever you evaluate: a function, a program, a model. It is wrong about
two of the prices below, and Assay says about which, and how.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import assay
from assay import Case, CaseResult, VerificationResult
from assay.checks import run_check

CURRENCIES = {"€": "EUR", "$": "USD", "£": "GBP", "¥": "JPY"}


def read_price(text: str) -> tuple[float, str]:
    """The subject under test: amount and currency of a price."""
    currency = next((code for sign, code in CURRENCIES.items() if sign in text), "EUR")
    digits = re.sub(r"[^\d.,]", "", text)
    if re.search(r",\d{2}$", digits):
        digits = digits.replace(".", "").replace(",", ".")
    return float(digits.replace(",", "")), currency


PRICES = [
    ("plain", "19.99 $", 19.99, "USD"),
    ("sign first", "£5", 5.0, "GBP"),
    ("decimal comma", "3,50 €", 3.5, "EUR"),
    ("thousands and comma", "1.299,00 €", 1299.0, "EUR"),
    ("thousands and point", "$1,299.00", 1299.0, "USD"),
    ("no decimals", "¥ 12,000", 12000.0, "JPY"),
    ("thousands only", "1.299 €", 1299.0, "EUR"),
    ("code, no sign", "CHF 7.20", 7.2, "CHF"),
]


def cases() -> Iterator[tuple[Case, CaseResult]]:
    """Pairs of a case and what is expected of it."""
    for name, text, amount, currency in PRICES:
        case = Case(id=name, group="prices", text=text)
        yield case, case.result(output={"amount": amount, "currency": currency})


def task(case: Case) -> CaseResult:
    """Run one case."""
    amount, currency = read_price(case.describe()["text"])
    return case.result(output={"amount": amount, "currency": currency})


def verifier(
    group_name: str, case_name: str, actual: CaseResult, expected: CaseResult
) -> dict[str, VerificationResult]:
    """The amount counts twice as much as the currency, and a hundredth does not matter."""
    found, wanted = actual.output, expected.output
    return {
        "amount": run_check(
            "number", found["amount"], wanted["amount"], absolute=0.005, weight=2.0
        ),
        "currency": run_check("exact", found["currency"], wanted["currency"]),
    }


evaluation = assay.Evaluation(cases, task, verifier)
