cat flips-cpu.txt ../h200-x2-2026-11-later/flips.txt ../h100-x2-2026-11-resident/flips-p.txt | awk -f flips.awk
