# SPDX-License-Identifier: MIT
# Of what himeno-predict --check printed: how far sealed predictions were from the runs, by way, in percent; half of the runs
# and 9 of 10 are within, and the worst.
$2 ~ /^(strong|weak)$/ && NF >= 8 && $5 ~ /^(p2p|staged)$/ {
  error = ($7 / $6 - 1) * 100
  errors[$5, ++n[$5]] = error < 0 ? -error : error
  inside[$5] += $9 != "outside"
}
END {
  split("p2p staged", ways)
  for (w = 1; w <= 2; w++) {
    by = ways[w]
    for (i = 1; i <= n[by]; i++)
      for (j = i + 1; j <= n[by]; j++)
        if (errors[by, j] < errors[by, i]) { t = errors[by, i]; errors[by, i] = errors[by, j]; errors[by, j] = t }
    half = (errors[by, int((n[by] + 1) / 2)] + errors[by, int(n[by] / 2) + 1]) / 2
    printf "%s: %d runs, %d inside, half %.2f, nine of ten %.2f, worst %.2f\n", by, n[by], inside[by], half, errors[by, int((9 * n[by] + 9) / 10)], errors[by, n[by]]
  }
}
