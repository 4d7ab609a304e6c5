#!/usr/bin/env bash
# Builds the programs here and in a fresh clone elsewhere, each with its own cache of cargo, and compares the bytes.
#
#   packaging/reproduce.sh [TRIPLE] [PROFILE]
#
# `make dist-check` calls it after `make dist`, which has already built the ones here.
set -euo pipefail

triple=${1:-x86_64-unknown-linux-gnu}
profile=${2:-release}
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
here=$(realpath -m "${CARGO_TARGET_DIR:-$root/target}")
export CARGO_TARGET_DIR=$here
cache=${CARGO_HOME:-$HOME/.cargo}
if [[ -n $(git -C "$root" status --porcelain) ]]; then
    echo 'reproduce.sh: commit your changes first: a clone has only what is committed' >&2
    exit 2
fi
work=$(mktemp -d "${TMPDIR:-/tmp}/skillpm-reproduce.XXXXXX")
trap 'rm -rf "$work"' EXIT

# Builds in the directory $1.
build() {
    echo "building in $1"
    (
        cd "$1"
        SOURCE_DATE_EPOCH=$(git log -1 --format=%ct) python3 packaging/dist.py --profile "$profile" build "$triple"
    )
}

build "$root"
git clone --quiet "$root" "$work/sources"
# What cargo downloaded; it unpacks the crates anew.
for part in registry/index registry/cache config.toml; do
    if [[ -e $cache/$part ]]; then
        mkdir -p "$work/cargo/$(dirname "$part")"
        cp -r "$cache/$part" "$work/cargo/$part"
    fi
done
CARGO_HOME=$work/cargo CARGO_TARGET_DIR=$work/built build "$work/sources"

different=0
for program in skillpm skillpm-registry; do
    built=("$here/$triple/$profile/$program" "$work/built/$triple/$profile/$program")
    sha256sum "${built[@]}"
    cmp "${built[@]}" || different=1
done
if [[ $different = 0 ]]; then echo "the programs are the same"; fi
exit $different
