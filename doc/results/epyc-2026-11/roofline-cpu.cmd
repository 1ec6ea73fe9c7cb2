mem-gpu -b cpu --roofline -t 4 --json roofline-cpu.json
