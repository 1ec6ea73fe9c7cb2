himeno-predict --check sealed/stream-4x1x1.json --against runs.jsonl
