scripts/accept acc3 --hosts localhost --per-host 2 --level 2
