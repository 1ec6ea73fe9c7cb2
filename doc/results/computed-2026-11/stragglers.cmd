STRAGGLER_RATES=1 tests/unit/test_straggler
