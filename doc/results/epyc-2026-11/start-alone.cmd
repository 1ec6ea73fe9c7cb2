OMPI_MCA_ess_singleton_isolated=0 himeno-gpu -b null -s XS -n 1 --verify off --json start.json
