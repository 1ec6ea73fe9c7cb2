himeno-predict --check sealed/temporal4-2x2x1.json --against runs.jsonl
