scripts/accept slow --hosts localhost --per-host 2 --level 1
