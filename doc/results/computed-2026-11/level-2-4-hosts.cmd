scripts/accept-power --level 2 --hosts 4 --runs 5000
