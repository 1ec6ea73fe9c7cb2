scripts/accept-power --level 2 --hosts 3 --runs 5000
