himeno-predict --check sealed/sealed-KERNEL-TRANSPORT-CUT.json --against runs.jsonl (each of the eight: kernel, size, scaling, ranks, cut, transport, µs measured, predicted, error)
