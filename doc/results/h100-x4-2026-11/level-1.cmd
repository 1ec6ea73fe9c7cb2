scripts/accept acc1 --hosts localhost --per-host 4 --level 1
