#!/bin/sh
# SPDX-License-Identifier: MIT
# node.sh MODE [OPTION]...: runs node.py with the first Python in /usr/bin that is new enough.
here=$(/usr/bin/dirname "$(/usr/bin/readlink -f "$0")")
code=127
for python in /usr/bin/python3 /usr/bin/python3.[89] /usr/bin/python3.1[0-9]; do
  if "$python" -I -c 'import sys; sys.exit(sys.version_info < (3, 8))' 2>/dev/null; then
    "$python" -I "$here/node.py" "$@"
    code=$?
    break
  fi
done
case $code in
  0 | 3 | 10) ;;
  127) /usr/bin/logger -t himeno "no Python 3.8 or later in /usr/bin: nothing was checked" ;;
  *) /usr/bin/logger -t himeno "$here/node.py ended with $code: nothing was checked" ;;
esac
exit $code
