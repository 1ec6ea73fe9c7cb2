scripts/accept acc3 --hosts localhost --per-host 4 --level 1
