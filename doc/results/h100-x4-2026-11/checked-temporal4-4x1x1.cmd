himeno-predict --check sealed/temporal4-4x1x1.json --against runs.jsonl
