scripts/accept-power --level 3 --runs 20000
