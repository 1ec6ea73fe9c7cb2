awk -f sums.awk checked.txt
