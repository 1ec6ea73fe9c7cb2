# SPDX-License-Identifier: MIT
# Fish completion of the suite's programs: `make install` puts it where fish looks. The options are those that --help shows.
set -l program (path change-extension '' (path basename (status filename)))
complete -c $program -n 'string match -q -- "-*" (commandline -ct)' -a "($program --help 2>/dev/null | string match -rg -- '^ {2,6}(?:-\w(?: [A-Z.]+)?, )?(--[a-z][a-z-]*)')"
