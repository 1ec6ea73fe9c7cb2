#compdef himeno-gpu comm-gpu gemm-gpu mem-gpu himeno-accept himeno-isa himeno-judge himeno-plot himeno-predict himeno-report himeno-scaling
# SPDX-License-Identifier: MIT
# Zsh completion of the suite's programs: `make install` puts it where zsh looks. The options are those that --help shows.
_arguments -- '*=FILE*:file:_files' '*=FOLDER*:folder:_files -/'
