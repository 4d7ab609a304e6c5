#!/usr/bin/env bash
# Installs the Debian package in an old Debian and runs the program there, and the program of the archive too.
#
#   packaging/check-debian.sh [SUITE] [DIST]
#
# As root, with debootstrap. `make dist-check` calls it after `make dist`.
set -euo pipefail

suite=${1:-bullseye}
dist=${2:-target/dist}
work=$(mktemp -d "${TMPDIR:-/tmp}/skillpm-debian.XXXXXX")
trap 'rm -rf "$work"' EXIT

debootstrap --variant=minbase --include=ca-certificates "$suite" "$work" >"$work.log" || { cat "$work.log"; exit 1; }
rm -f "$work.log"
cp "$dist"/skillpm_*_amd64.deb "$work/skillpm.deb"
tar -xJf "$dist/skillpm-x86_64-unknown-linux-gnu.tar.xz" -C "$work"
inside() { chroot "$work" "$@"; }

inside dpkg --install /skillpm.deb
inside ldd --version | sed -n 1p
inside skillpm --version
inside sh -c 'mkdir /project && cd /project && skillpm create it --path . --yes && skillpm validate it && skillpm install ./it --yes && skillpm verify'
inside dpkg --remove skillpm
inside sh -c '! command -v skillpm && /skillpm-x86_64-unknown-linux-gnu/skillpm --version'
