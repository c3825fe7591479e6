"""The same cases through pydantic-evals: echo, EqualsExpected, nothing printed or written."""

import os

from pydantic_evals import Case, Dataset
from pydantic_evals.evaluators import EqualsExpected


async def echo(text: str) -> str:
    return text


dataset = Dataset(
    name="trivial",
    cases=[
        Case(name=f"case-{number}", inputs=f"text {number}", expected_output=f"text {number}")
        for number in range(int(os.environ["CASES"]))
    ],
    evaluators=[EqualsExpected()],
)
report = dataset.evaluate_sync(echo, progress=False)
assert len(report.cases) == int(os.environ["CASES"])
