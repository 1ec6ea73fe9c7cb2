scripts/accept-power --level 1 --per-host 2 --runs 20000
