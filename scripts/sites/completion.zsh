#compdef himeno-gpu comm-gpu gemm-gpu mem-gpu himeno-accept himeno-isa himeno-judge himeno-plot himeno-predict himeno-report himeno-scaling
# SPDX-License-Identifier: MIT
# Zsh completion of the suite's programs. It runs the file for bash, which `make install` puts at this path.
local -a found
found=(${(f)"$(bash ${functions_source[_himeno-gpu]:h}/../../bash-completion/completions/himeno-gpu "${(@)words[1,CURRENT-1]}" "$PREFIX")"})
compadd -a found
