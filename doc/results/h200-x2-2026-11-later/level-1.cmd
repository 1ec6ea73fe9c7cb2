scripts/accept acc1 --hosts localhost --per-host 2 --level 1
