himeno-predict --check ../two-sealed-2026-11/h100-temporal4.json --against runs.jsonl
