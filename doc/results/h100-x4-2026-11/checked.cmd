awk -f checked.awk checked-*-*.txt
