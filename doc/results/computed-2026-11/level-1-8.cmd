scripts/accept-power --level 1 --per-host 8 --runs 20000
