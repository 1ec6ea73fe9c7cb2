FLIP_TABLE=1 tests/unit/test_soak
