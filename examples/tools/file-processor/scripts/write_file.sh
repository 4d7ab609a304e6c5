#!/bin/sh
# Write a text to a file.
# Usage: write_file.sh [-f] <path> <text>
#   -f      replace a file that is there
#   path    the file
#   text    what it will hold
set -eu

force=
while getopts f option; do
    case $option in
        f) force=yes ;;
        *) exit 2 ;;
    esac
done
shift $((OPTIND - 1))
if [ $# -ne 2 ]; then
    echo 'write_file: a path and a text are needed' >&2
    exit 2
fi
if [ -e "$1" ] && [ -z "$force" ]; then
    echo "write_file: $1 is there already" >&2
    exit 1
fi
printf '%s\n' "$2" > "$1"
