"""Runs in the environment of neuro-san: tries test cases with the driver of its own tests.

The first argument is the port of a server, the standard input a list of test cases; printed is,
for each, whether the driver calls it successful.
"""

from __future__ import annotations

import json
import sys
import unittest

from neuro_san.interfaces.agent_session import AgentSession
from neuro_san.test.driver.data_driven_tests_driver import (
    DataDrivenTestsDriver,
)
from neuro_san.test.unittest.unit_test_assert_forwarder import (
    UnitTestAssertForwarder,
)


def main() -> None:
    AgentSession.DEFAULT_PORT = int(sys.argv[1])
    driver = DataDrivenTestsDriver(UnitTestAssertForwarder(unittest.TestCase()), "reference")
    passed = []
    for case in json.load(sys.stdin):
        (result,) = driver.run_tests([case], 1)
        passed.append(not result.get_asserts())
    print(json.dumps(passed))


if __name__ == "__main__":
    main()
