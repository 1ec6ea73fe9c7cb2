scripts/accept acc2 --hosts localhost --per-host 2 --level 2
