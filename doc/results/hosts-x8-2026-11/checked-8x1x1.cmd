himeno-predict --check sealed/8x1x1.json --against later.jsonl
