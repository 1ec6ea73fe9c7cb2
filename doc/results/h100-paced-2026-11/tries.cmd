himeno-gpu -b cuda -s SIZE --kernel-file TRY.cu -t 0.3 --no-tune
