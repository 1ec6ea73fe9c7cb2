# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Functions that scripts/quickstart and scripts/test share, which source this file.

build_packages=(build-essential autoconf automake pkg-config libopenmpi-dev openmpi-bin libhwloc-dev libjansson-dev
                ocl-icd-opencl-dev libopenblas-dev libclblast-dev libcminpack-dev python3)
test_packages=(libcmocka-dev bats pocl-opencl-icd python3-jsonschema python3-matplotlib clang-format-14 clang-14
               libclc-14 libclc-14-dev mpich libmpich-dev procps python3-venv)
# Optional apt packages. A test that lacks one of them is skipped.
optional_packages=(chromium fish jq mandoc munge python3-prometheus-client slurm-client slurmctld slurmd zsh)

say() { printf '\n==> %s\n' "$*"; }
die() {
  printf '%s: %s\n' "$(basename "$0")" "$1" >&2
  exit "${2:-3}"
}

# version: prints the suite's version, from the file that scripts/shared/options.py reads.
version() { printf '%s %s\n' "$(basename "$0")" "$(sed -n 's/^version: *//p' "$(dirname "${BASH_SOURCE[0]}")/../CITATION.cff")"; }

# common_option OPTION: handles an option that quickstart and test share, and collects those of configure. Calls usage(), which
# the script defines.
with_install=1
for_configure=()
common_option() {
  case $1 in
    --no-install) with_install=0 ;;
    --help) usage && exit ;;
    --version) version && exit ;;
    --with-* | --without-* | --enable-* | --disable-* | [A-Z]*=*) for_configure+=("$1") ;;
    *) die "unknown option \"$1\": see --help" 2 ;;
  esac
}

# pack_inputs FOLDER ARCHIVE: packs the files of FOLDER. The archive's bytes depend only on their names and contents.
pack_inputs() {
  (cd "$1" && LC_ALL=C tar --format=ustar --sort=name --owner=0 --group=0 --numeric-owner --mode=644 --mtime=@0 -cf "$2" -- *)
}

# Succeeds if ./build is not configured yet, and no option selects the GPUs to compile for.
chips_are_open() { [ ! -x build/config.status ] && [[ " ${for_configure[*]-}" != *" --with"*"-cuda"* ]]; }

# show COMMAND...: prints the command and runs it.
show() {
  printf '  $ %s\n' "$*"
  "$@"
}

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi
}

# install PACKAGE...: installs the missing packages with apt.
install() {
  local missing=() package
  command -v apt-get >/dev/null ||
    die "there is no apt-get here: install the counterparts of these, then use --no-install: $*"
  for package in "$@"; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
  done
  if [ ${#missing[@]} = 0 ]; then
    say "Packages: all there"
    return
  fi
  [ "$(id -u)" = 0 ] || command -v sudo >/dev/null ||
    die "not root, and there is no sudo: have these installed, then use --no-install: ${missing[*]}"
  say "Packages: installing ${missing[*]}"
  as_root apt-get update -qq
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends "${missing[@]}" >/dev/null
}

# offered PACKAGE...: prints the packages that apt can install.
offered() {
  local package
  for package in "$@"; do
    if apt-cache show "$package" >/dev/null 2>&1; then echo "$package"; fi
  done
}

# configure FOLDER [FLAG]...: configures in FOLDER. Without flags, repeats an earlier configuration with its flags, to find
# libraries that were installed since then.
configure() {
  local folder=$1
  shift
  [ -x configure ] || show ./autogen.sh >autogen.log 2>&1 || { cat autogen.log; die "autogen.sh failed" 7; }
  rm -f autogen.log
  mkdir -p "$folder"
  (
    cd "$folder"
    if [ -x config.status ] && [ $# = 0 ]; then
      ./config.status --recheck && ./config.status
    else
      ../configure "$@"
    fi
  ) >"$folder/configure.log" 2>&1 || { tail -n 20 "$folder/configure.log"; die "configure failed; see $folder/config.log"; }
}

# Prints the table at the end of configure's output.
configured() {
  sed -n '/is configured to be/,/^Next/p' "$1/configure.log" | sed '/^Next/d' | cat -s
}

jobs() { nproc; }

# Lets MPI run in containers (as root) and with more ranks than cores.
allow_mpi() {
  if [ "$(id -u)" = 0 ]; then
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  fi
}
