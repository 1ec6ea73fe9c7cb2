# SPDX-License-Identifier: MIT
# Sums the tables of tests/mpi/flips, pauses or none: reported of planted by array, data, distance and bits. Last, all of them.
/^(not )?ok / { data = $0 ~ / standard:/ ? "standard" : "dense"; for (k in mine) sum[k (k ~ /^p, halos/ ? " " data : "")] += mine[k]; split("", mine) }
/^# (with pauses|without) / {
  array = /constants/ ? "a constant array" : /fixed points/ ? "either p, fixed layers" : /halos/ ? "p, halos" : "p"
  match($0, /[0-9]+-[0-9]+/); distance = substr($0, RSTART, RLENGTH)
  n = split($0, part, "bits ")
  for (b = 2; b <= n; b++) { split(part[b], f, /[: ]+/); mine[array SUBSEP distance SUBSEP b " r"] += f[2]; mine[array SUBSEP distance SUBSEP b " p"] += f[4] }
}
END {
  n_arrays = split("a constant array,p,either p; fixed layers,p; halos", arrays, ",")
  n_distances = split("1-12 13-30 31-60 61-120", distances, " ")
  print "array | distance | bits 10-12 | 13-15 | 16-22 | 23-31"
  for (a = 1; a <= n_arrays; a++) {
    gsub(";", ",", arrays[a])
    for (kind = 1; kind <= (arrays[a] == "p, halos" ? 2 : 1); kind++) {
      suffix = arrays[a] == "p, halos" ? (kind == 1 ? " standard" : " dense") : ""
      for (d = 1; d <= n_distances; d++) {
        line = arrays[a] (suffix ? "," suffix " data" : "") " | " distances[d]
        for (b = 2; b <= 5; b++) {
          key = arrays[a] SUBSEP distances[d] SUBSEP b
          r = sum[key " r" suffix] + 0; p = sum[key " p" suffix] + 0
          line = line " | " r " of " p; reported += r; planted += p
        }
        print line
      }
    }
  }
  print "all | " reported " of " planted
}
