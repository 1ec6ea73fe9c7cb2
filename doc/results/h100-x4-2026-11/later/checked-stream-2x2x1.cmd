himeno-predict --check sealed/stream-2x2x1.json --against runs.jsonl
