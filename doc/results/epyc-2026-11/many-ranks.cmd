PLAYED_RANKS=8192 tests/played/himeno-gpu -b null -s XS -k reference --block 1 -t 1 --json many.json && himeno-judge many.json (and with 1, 1024 and 4096)
