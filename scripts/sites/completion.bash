# SPDX-License-Identifier: MIT
# Completion of the suite's programs for bash; for zsh and fish this file runs as a program. It offers options, commands and most
# values from --help and --list. `make install` puts it into bash's directory; in a source tree: . scripts/sites/completion.bash

# _himeno_gpu_commands PROGRAM: prints its commands, which are one line of --help, separated by |.
_himeno_gpu_commands() { "$1" --help 2>/dev/null | grep -m 1 -xE -- ' +[a-z][a-z0-9-]*(\|[a-z][a-z0-9-]*)+' | tr -s '| ' ' '; }

# _himeno_gpu_options PROGRAM COMMAND: prints the options of a command, or of a program if it has
# none.
_himeno_gpu_options() {
  "$1" ${2:+"$2"} --help 2>/dev/null | grep -oE -- '^ {2,6}(-[A-Za-z]( [A-Z.]+)?, )?--[a-z][a-z0-9-]*' | grep -o -- '--.*' | sort -u
}

# _himeno_gpu_value PROGRAM COMMAND OPTION: prints the option's value in --help, such as FILE or auto|keep|share; nothing for a
# flag.
_himeno_gpu_value() {
  "$1" ${2:+"$2"} --help 2>/dev/null | grep -E -- "^ {2,6}([^ ]+( [A-Z.]+)?, )?$3([, =[]|$)" |
    sed -nE 's/^ {2,6}(-[A-Za-z]( [^ ]+)?, )?--[a-z-]+\[?[= ]([^] ]+).*/\3/p'
}

# _himeno_gpu_listed PROGRAM WORD: prints the names after "kernel" or "device", or below "Transports", in the output of --list.
# Scripts use the himeno-gpu of their directory.
_himeno_gpu_listed() {
  case $1 in *himeno-scaling | *himeno-accept) set -- "${1%himeno-*}himeno-gpu" "$2" ;; esac
  "$1" --list 2>/dev/null | awk -v what="$2" '/^[^ ]/ { on = $1 == what } $1 == what && /^ / { print $2 } on && /^  [^ ]/ { print $1 }' | sort -u
}

# _himeno_gpu_words PROGRAM OPTION: prints the words that an option accepts. Programs have them in their schema, in the field with
# the option's name; scripts list them in the error about a wrong word.
_himeno_gpu_words() {
  case $1 in
    *-gpu) "$1" --schema 2>/dev/null | sed -nE "s/^ *\"${2#--}\": .*\"enum\": \[([^]]*)\].*/\1/p" | tr -d '",' ;;
    *) "$1" "$2" '?' 2>&1 | sed -nE '/must be /{s/.*must be (one of )?//;s/, or .*//;s/,| or / /gp}' ;;
  esac
}

# _himeno_gpu PROGRAM WORD PREVIOUS-WORD [COMMAND]: sets COMPREPLY to the completions of WORD.
_himeno_gpu() {
  local program=$1 word=$2 before=$3 command=${4-${COMP_WORDS[1]-}} words='' files='' kept='' commands value
  # bash splits --option=value at "=", unlike other shells.
  case $word,$before in
    =,*) before=${COMP_WORDS[COMP_CWORD - 1]} word='' ;;
    *,=) before=${COMP_WORDS[COMP_CWORD - 2]} ;;
    --*=*) before=${word%%=*} kept=${word%%=*}= word=${word#*=} ;;
  esac
  commands=$(_himeno_gpu_commands "$program")
  [[ " $commands " == *" $command "* ]] || command=
  value=
  [[ $before != -* ]] || value=$(_himeno_gpu_value "$program" "$command" "$before")
  case $value,$before in
    ,*)
      words=$(_himeno_gpu_options "$program" "$command")
      if [[ $commands && ! $command ]]; then words+=" $commands"; else files=1; fi
      [[ $word != -* && ${program##*/} != *-gpu ]] || files= ;;
    FILE* | FOLDER* | *-FOLDER* | PATH* | DOCUMENT*) files=1 ;;
    *,--policy | *,--accept) words="default h100 h200" files='!*.json' ;;
    *,-s | *,--size | *,--sizes) if [[ $program == *gemm-gpu ]]; then words="1024 2048 4096 8192 16384"; else words="XS S M L XL"; fi ;;
    *,--type | *,--trans | *,--parts | *,--stages | *,--include) words=$(_himeno_gpu_words "$program" "$before") ;;
    *,--network) words="2,12.5 2,25 2,50" ;; # latency in µs, GB/s: 100, 200 and 400 Gb/s
    *,-b | *,--backend) words="auto cuda opencl cpu qpu null" ;;
    *,-k | *,--kernel | *,--kernels) words="auto $(_himeno_gpu_listed "$program" kernel)" ;;
    *,--device) words=$(_himeno_gpu_listed "$program" device) ;;
    *,-x | *,--transport | *,--transports) words="${value%%|*} $(_himeno_gpu_listed "$program" Transports)" ;;
    *\|* | \{*) words=$(tr -s '{},|' '\n' <<<"$value" | grep -x '[a-z0-9-]*') ;;
  esac
  # Complete only the last word of a list; the words up to the last comma are kept.
  if [[ $word == *,* && $before != --network ]]; then kept+=${word%,*}, word=${word##*,}; fi
  mapfile -t COMPREPLY < <(
    compgen -P "$kept" -W "$words" -- "$word"
    case $files in
      1) compgen -P "$kept" -f -- "$word" ;;
      ?*) compgen -P "$kept" -f -X "$files" -- "$word" ;;
    esac
  )
}

if [ "${BASH_SOURCE[0]}" = "$0" ]; then
  # bash completion.bash PROGRAM WORD... prints the completions of the last word.
  COMP_WORDS=("$@")
  _himeno_gpu "$1" "${!#}" "${COMP_WORDS[$# - 2]}"
  printf '%s\n' "${COMPREPLY[@]}"
else
  complete -o filenames -F _himeno_gpu himeno-gpu gemm-gpu mem-gpu comm-gpu himeno-judge himeno-predict \
    himeno-accept himeno-isa himeno-plot himeno-report himeno-scaling
fi
