himeno-predict --check sealed/6x1x1.json --against later.jsonl
