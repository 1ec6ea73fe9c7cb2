/* SPDX-License-Identifier: MIT */
/* Written by scripts/make-known with the reference kernel; do not edit. */
/* clang-format off */
{"XS", HIMENO_STANDARD, 0x917623613ee0451cu},
{"XS", HIMENO_DENSE, 0x00293543706ed178u},
{"S", HIMENO_STANDARD, 0xae0020c2fc56e9f9u},
{"S", HIMENO_DENSE, 0x3b513d94812ed241u},
{"M", HIMENO_STANDARD, 0xabe6d7b82e28dff8u},
{"M", HIMENO_DENSE, 0xe2b6cddd7f37f51bu},
{"L", HIMENO_STANDARD, 0xe130dcb80d202750u},
{"L", HIMENO_DENSE, 0x1760a53d097095edu},
{"XL", HIMENO_STANDARD, 0x8c97d4f6f7ec30e7u},
{"XL", HIMENO_DENSE, 0x2cdf335775d1b94cu},
