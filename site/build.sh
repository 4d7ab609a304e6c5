#!/bin/sh
# Builds the documentation site: `site/build.sh DIRECTORY`. MKDOCS and SKILLPM name the programs.
#
# The site is also a registry with one skill, which tells agents how to use this version of skillpm. Any tool that reads
# the discovery format for skills installs it from the address of the site.
set -eu

cd "$(dirname "$0")/.."
out=$1

# Quietly, unless it fails: with `--quiet` the generator would not count warnings. The variable leaves out a note that it
# has a successor; see site/requirements.txt.
log=$(NO_MKDOCS_2_WARNING=1 PYTHONDONTWRITEBYTECODE=1 "${MKDOCS:-mkdocs}" build --strict --site-dir "$out" 2>&1) \
    || { printf '%s\n' "$log" >&2; exit 1; }
"${SKILLPM:-skillpm}" --quiet registry init "$out" --name skillpm
"${SKILLPM:-skillpm}" --quiet registry add --registry "$out" skills/skillpm
# What only writers of a registry need is not served.
rm -r "$out/lock" "$out/pending"
# Hosts that leave out names with a dot at the start do not if this file exists.
: > "$out/.nojekyll"
