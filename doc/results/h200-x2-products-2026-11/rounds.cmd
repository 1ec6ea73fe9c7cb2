himeno-predict --study runs.jsonl --comm paths.json -k warptile -s 3072,6144,12288 -n 2 -p 1x2 --scaling strong --per-host 2 --against more.jsonl
