himeno-predict --check ../two-sealed-2026-11/h100-stream.json --against runs.jsonl
