scripts/accept-power --streams --runs 5000
