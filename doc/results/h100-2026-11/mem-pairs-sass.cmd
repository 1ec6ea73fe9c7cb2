scripts/isa-report --pairs mem-gpu
