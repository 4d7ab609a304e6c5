#!/bin/sh
# Tells for each file whether it can be worked on, and how many lines it has.
set -u

usage() {
    cat <<'HELP'
usage: inspect.sh [--help] FILE...

Prints a line for each FILE: its status, its number of lines and its path, separated by tabs.
The status is ok, empty, missing or unreadable. Nothing is changed and nothing is asked.

exit codes:
  0  every file is ok
  1  some file is empty, missing or unreadable
  2  wrong use
HELP
}

case "${1-}" in
    -h | --help)
        usage
        exit 0
        ;;
    --)
        shift
        ;;
    -*)
        echo "inspect.sh: there is no option $1" >&2
        usage >&2
        exit 2
        ;;
esac

if [ "$#" -eq 0 ]; then
    echo "inspect.sh: name at least one file" >&2
    usage >&2
    exit 2
fi

code=0
for file in "$@"; do
    lines=0
    if [ ! -f "$file" ]; then
        status=missing
    elif [ ! -r "$file" ]; then
        status=unreadable
    elif [ ! -s "$file" ]; then
        status=empty
    else
        status=ok
        lines=$(awk 'END { print NR }' <"$file")
    fi
    [ "$status" = ok ] || code=1
    printf '%s\t%s\t%s\n' "$status" "$lines" "$file"
done
exit "$code"
