#!/usr/bin/env bash
# Builds the program twice, in two directories with two caches of cargo, and compares the bytes.
#
#   packaging/reproduce.sh [TRIPLE] [PROFILE]
#
# `make dist-check` calls it. It builds what is committed, and takes twice as long as a release.
set -euo pipefail

triple=${1:-x86_64-unknown-linux-gnu}
profile=${2:-release}
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/skillpm-reproduce.XXXXXX")
trap 'rm -rf "$work"' EXIT
cache=${CARGO_HOME:-$HOME/.cargo}

# Names of different lengths: a path that gets into the program would move everything behind it.
for name in a another-directory; do
    there=$work/$name
    mkdir -p "$there/cargo"
    git clone --quiet "$root" "$there/sources"
    # What cargo downloaded; it unpacks the crates anew.
    for part in registry/index registry/cache config.toml; do
        if [[ -e $cache/$part ]]; then
            mkdir -p "$there/cargo/$(dirname "$part")"
            cp -r "$cache/$part" "$there/cargo/$part"
        fi
    done
    echo "building in $there"
    (
        cd "$there/sources"
        CARGO_HOME=$there/cargo CARGO_TARGET_DIR=$there/built SOURCE_DATE_EPOCH=$(git log -1 --format=%ct) \
            python3 packaging/dist.py --profile "$profile" build "$triple"
    )
done

different=0
for program in skillpm skillpm-registry; do
    built=("$work"/*/built/"$triple/$profile/$program")
    sha256sum "${built[@]}"
    cmp "${built[@]}" || different=1
done
if [[ $different = 0 ]]; then echo "the programs are the same"; fi
exit $different
