"""Where strangers' code runs: target environments, isolation, programs, the warm proof runner."""
