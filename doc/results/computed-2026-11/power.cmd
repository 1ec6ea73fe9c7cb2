ACCEPT_POWER=1 tests/unit/test_power
