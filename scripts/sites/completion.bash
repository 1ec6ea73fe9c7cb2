# SPDX-License-Identifier: MIT
# Bash completion of the suite's programs: what they can do is asked of themselves, so it is never out of date. `make install` puts it
# where bash looks; in a source tree:
#     . scripts/sites/completion.bash

_himeno_gpu_options() { "$1" --help 2>/dev/null | grep -oE -- '^ {2,6}(-[A-Za-z]( [A-Z.]+)?, )?--[a-z][a-z-]*' | grep -o -- '--.*' | sort -u; }

# Whether --help shows a file or a folder behind the option.
_himeno_gpu_takes_file() { "$1" --help 2>/dev/null | grep -qE -- "^ {2,6}(-[a-z]( [A-Z.]+)?, )?$2[= ](FILE|FOLDER|PATH)"; }

# What --list shows below a heading such as "kernel" or "device".
_himeno_gpu_listed() { "$1" --list 2>/dev/null | awk -v what="$2" '$1 == what { print $2 }' | sort -u; }

_himeno_gpu() {
  local program=$1 word=$2 before=$3 words=
  case $before in
    -s | --size) words="XS S M L XL" ;;
    --data) words="standard dense" ;;
    -b | --backend) words="auto cuda opencl cpu qpu null" ;;
    -k | --kernel) words="auto $(_himeno_gpu_listed "$program" kernel)" ;;
    -x | --transport) words="auto $("$program" --list 2>/dev/null | awk '/^Transports/ { on = 1; next } /^[^ ]/ { on = 0 } on { print $1 }')" ;;
    --verify) words="auto full off" ;;
    --bind) words="auto keep share" ;;
    --accept | --policy) words="default h100 h200 $(compgen -f -X '!*.json' -- "$word")" ;;
    --?*)
      if _himeno_gpu_takes_file "$program" "$before"; then
        words=$(compgen -f -- "$word")
      else
        words=$(_himeno_gpu_options "$program")
      fi ;;
    *)
      words=$(_himeno_gpu_options "$program")
      [ "${program##*/}" != himeno-judge ] || words+=" $(compgen -f -- "$word")" ;;
  esac
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}
complete -o filenames -F _himeno_gpu himeno-gpu gemm-gpu mem-gpu comm-gpu himeno-judge himeno-predict \
  himeno-accept himeno-isa himeno-plot himeno-report himeno-scaling
