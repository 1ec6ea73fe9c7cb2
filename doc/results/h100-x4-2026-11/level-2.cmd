scripts/accept acc2 --hosts localhost --per-host 4 --level 2
