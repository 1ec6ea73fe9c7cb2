# SPDX-License-Identifier: MIT
# Errors of checked.txt in percent, by what was predicted and by transport: half of the runs and
# nine of ten are within them, and the worst.
{
  of = $1 " by " $7
  error = ($9 / $8 - 1) * 100
  errors[of, ++n[of]] = error < 0 ? -error : error
  inside[of] += $11 != "outside"
}
END {
  for (of in n) {
    for (i = 1; i <= n[of]; i++)
      for (j = i + 1; j <= n[of]; j++)
        if (errors[of, j] < errors[of, i]) { t = errors[of, i]; errors[of, i] = errors[of, j]; errors[of, j] = t }
    half = (errors[of, int((n[of] + 1) / 2)] + errors[of, int(n[of] / 2) + 1]) / 2
    printf "%s: %d runs, %d inside, half %.1f, nine of ten %.1f, worst %.1f\n", of, n[of], inside[of], half, errors[of, int((9 * n[of] + 9) / 10)], errors[of, n[of]] | "sort"
  }
}
