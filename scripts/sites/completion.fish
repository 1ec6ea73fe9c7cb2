# SPDX-License-Identifier: MIT
# Fish completion of the suite's programs. It runs the file for bash, which `make install` puts at this path.
set -l program (path change-extension '' (path basename (status filename)))
set -l file (string escape -- (path dirname (status filename))/../../bash-completion/completions/himeno-gpu)
complete -c $program -f -a "(bash $file (commandline -opc) (commandline -ct) | string match -v '')"
