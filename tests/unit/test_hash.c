/* SPDX-License-Identifier: MIT */
#include "tests/unit/unit.h"

#include "base/hash.h"

/** The generator with this step adds the golden ratio to its state. Seeded with 1234567, it must
 * give the numbers that its authors' program prints. */
TEST(the_step_is_that_of_splitmix64)
{
  static const uint64_t expected[] = {6457827717110365317u, 3203168211198807973u, 9817491932198370423u,
                                      4593380528125082431u, 16408922859458223821u};
  uint64_t seed = 1234567;
  for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
    assert_true(hash_mix(seed) == expected[i]);
    seed += 0x9e3779b97f4a7c15u;
  }
}

UNIT_MAIN(NULL, NULL)
