# SPDX-License-Identifier: MIT
# Lets MPI and the sanitizers run anywhere that tests do: containers, few cores, as root.
export OMPI_MCA_rmaps_base_oversubscribe=1 PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
export OMPI_MCA_btl_vader_single_copy_mechanism=none OMPI_MCA_mpi_yield_when_idle=1
# A rank that is started without a launcher needs no daemon of its own: a third less of the start.
export OMPI_MCA_ess_singleton_isolated=1
# slowness: how many times longer work takes here than on an idle core, as the median of seven
# measurements, since one can meet a single busy moment, and at most 8. Limits that only end what
# hangs are multiplied by SLOWNESS, which is measured once per file. On an idle core a program needs
# about a tenth of its limit. A factor of 8 is therefore enough even if work takes 80 times longer;
# with six busy loops and other tests on one core it took 12 to 25 times longer. A larger factor only
# lets a hanging program stay: 30 s became 20 minutes by a factor of 41.
slowness() {
  python3 -ISc 'import statistics, time
def slowness():
    begin, used = time.perf_counter(), time.process_time()
    while time.process_time() - used < 0.01: pass
    return (time.perf_counter() - begin) / 0.01
print(min(8, max(1, round(statistics.median(slowness() for _ in range(7))))))'
}
: "${SLOWNESS:=$(slowness)}"
export SLOWNESS
# Threads that wait do not spin: tests share the cores.
export OMP_WAIT_POLICY=passive
if [ "${EUID:-$(id -u)}" = 0 ]; then
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
fi
# Without the search for networks that one host does not need, a launch takes a quarter less time.
export OMPI_MCA_pml=ob1 OMPI_MCA_btl=self,vader,tcp
if [ "${SANITIZERS:-no}" != no ]; then
  # CUDA maps memory where the address sanitizer wants a gap. The runtime of GCC before 14 takes a thread-local block that a library
  # allocates for one of an old glibc, if the block starts 16 bytes behind a page's start; the leak sanitizer then reads anywhere.
  export ASAN_OPTIONS="protect_shadow_gap=0:intercept_tls_get_addr=0"
  export UBSAN_OPTIONS=print_stacktrace=1
  export LSAN_OPTIONS="print_suppressions=0:suppressions=${top_srcdir:?}/tests/sanitizers.supp"
else
  # Once a rank has ended badly the others are ended at once, and not a second later. The leak sanitizer has use for the second.
  export OMPI_MCA_odls_base_sigkill_timeout=0
  # Ranks that poll on a busy core sleep between two polls.
  [ ! -e "${top_builddir-}/tests/nap.so" ] || export LD_PRELOAD=$top_builddir/tests/nap.so
fi
