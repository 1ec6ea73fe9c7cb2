scripts/accept-power --level 2 --hosts 2 --runs 5000
