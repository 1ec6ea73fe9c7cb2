scripts/accept-power --level 2 --runs 20000
