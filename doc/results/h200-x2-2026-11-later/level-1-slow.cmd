scripts/accept slow1 --hosts localhost --per-host 2 --level 1
