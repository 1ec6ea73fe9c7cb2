scripts/isa-report --isa sass --pairs --json mem-pairs-sass.json gpu/mem/cuda/pairs.cu
