# SPDX-License-Identifier: MIT
# Settings that let MPI and the sanitizers run in containers, on few cores and as root.
export OMPI_MCA_rmaps_base_oversubscribe=1 PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
export OMPI_MCA_btl_vader_single_copy_mechanism=none OMPI_MCA_mpi_yield_when_idle=1
# A rank without a launcher needs no daemon. Without the daemon it starts in two thirds of the time.
export OMPI_MCA_ess_singleton_isolated=1
# slowness: prints how many times longer work takes here than on an idle core, at most 8. It is the median of seven measurements,
# because a single one may meet a busy moment. SLOWNESS, which is measured once per file, multiplies time limits that only end
# hanging programs. On an idle core a program needs about a tenth of its limit, so a factor of 8 suffices even if work takes 80
# times longer; with six busy loops and other tests on one core it took 12 to 25 times longer. With a larger factor, a hanging
# program only ends later: 30 s became 20 minutes by a factor of 41.
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
# Waiting threads must not spin, because tests share the cores.
export OMP_WAIT_POLICY=passive
if [ "${EUID:-$(id -u)}" = 0 ]; then
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
fi
# Without the search for networks that one host does not need, a launch takes a quarter less time.
export OMPI_MCA_pml=ob1 OMPI_MCA_btl=self,vader,tcp
if [ "${SANITIZERS:-no}" != no ]; then
  # CUDA maps memory where the address sanitizer wants a gap. If a library's thread-local block starts 16 bytes after a page's
  # start, the runtime of GCC before 14 assumes the layout of an old glibc; the leak sanitizer then reads at wrong addresses.
  export ASAN_OPTIONS="protect_shadow_gap=0:intercept_tls_get_addr=0:allocator_may_return_null=1"
  export UBSAN_OPTIONS=print_stacktrace=1
  export LSAN_OPTIONS="print_suppressions=0:suppressions=${top_srcdir:?}/tests/sanitizers.supp"
else
  # After one rank has failed, the others are ended at once instead of after a second. The leak sanitizer needs that second.
  export OMPI_MCA_odls_base_sigkill_timeout=0
  # Ranks that poll on a busy core sleep between two polls.
  [ ! -e "${top_builddir-}/tests/nap.so" ] || export LD_PRELOAD=$top_builddir/tests/nap.so
fi
