scripts/accept-power --level 1 --per-host 4 --runs 20000
