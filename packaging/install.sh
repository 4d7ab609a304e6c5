#!/bin/sh
# Installs skillpm: downloads the program for this machine, checks its SHA-256, and puts it into a directory.
# `sh install.sh --help` lists what can be set.

set -u

RELEASES=https://github.com/skillpm/skillpm/releases

usage() {
    cat <<EOF
install skillpm, the package manager for Agent Skills

Usage: sh install.sh [--help]

Variables:
  SKILLPM_INSTALL_DIR   where to put the program [default: \$XDG_BIN_HOME, or ~/.local/bin]
  SKILLPM_VERSION       the version to install, such as 0.1.0 [default: the latest]
  SKILLPM_DOWNLOAD_URL  a directory of a mirror that has the files of one release

The installer needs \`tar\`, on Linux \`xz\`, \`curl\` or \`wget\`, and \`sha256sum\`, \`shasum\` or \`openssl\`. It writes one file, changes no
settings of your shell and never asks for other rights.

To check who built an archive, download it and type:
  gh attestation verify skillpm-TARGET.tar.xz --repo skillpm/skillpm

Docs: https://github.com/skillpm/skillpm/blob/main/docs/guide/install.md
EOF
}

fail() {
    printf 'error: %s\n' "$1" >&2
    [ -z "${2:-}" ] || printf 'hint: %s\n' "$2" >&2
    exit 1
}

has() {
    command -v "$1" >/dev/null 2>&1
}

# The target of this machine, as archives are named.
find_target() {
    system=$(uname -s)
    machine=$(uname -m)
    other="\`cargo install --locked skillpm\` builds it with Rust"
    case "$machine" in
        x86_64 | amd64) machine=x86_64 ;;
        aarch64 | arm64) machine=aarch64 ;;
        *) fail "there is no program for the processor \`$machine\`" "$other" ;;
    esac
    case "$system" in
        Linux)
            if has getconf && [ "$(getconf LONG_BIT 2>/dev/null)" = 32 ]; then
                fail "there is no program for systems with 32 bits" "$other"
            fi
            echo "$machine-unknown-linux-$(find_libc)"
            ;;
        Darwin)
            # A shell that Rosetta translates says x86_64 on Apple silicon.
            if [ "$(sysctl -n hw.optional.arm64 2>/dev/null)" = 1 ]; then machine=aarch64; fi
            echo "$machine-apple-darwin"
            ;;
        MINGW* | MSYS* | CYGWIN*)
            fail "this installer is for Linux and macOS" "in PowerShell: irm $RELEASES/latest/download/install.ps1 | iex"
            ;;
        *) fail "there is no program for the system \`$system\`" "$other" ;;
    esac
}

# `gnu` with glibc 2.17 or newer; else `musl`, whose program needs no library of the system.
find_libc() {
    glibc=$(getconf GNU_LIBC_VERSION 2>/dev/null) || glibc=
    case "$glibc" in
        "glibc 2."*)
            minor=${glibc#glibc 2.}
            if [ "${minor%%.*}" -ge 17 ] 2>/dev/null; then echo gnu; else echo musl; fi
            ;;
        *) echo musl ;;
    esac
}

download() {
    if has curl; then
        curl --fail --silent --show-error --location --retry 3 --output "$2" "$1"
    else
        wget --quiet --output-document="$2" "$1"
    fi || fail "could not download $1" "check the address and the network, or set SKILLPM_DOWNLOAD_URL to a mirror"
}

sha256_of() {
    if has sha256sum; then
        sha256sum "$1"
    elif has shasum; then
        shasum -a 256 "$1"
    else
        openssl dgst -sha256 -r "$1"
    fi | cut -d ' ' -f 1
}

address_of_release() {
    if [ -n "${SKILLPM_DOWNLOAD_URL:-}" ]; then
        if [ -n "${SKILLPM_VERSION:-}" ]; then
            fail "SKILLPM_VERSION and SKILLPM_DOWNLOAD_URL are both set" "the address names a version already: unset SKILLPM_VERSION"
        fi
        echo "${SKILLPM_DOWNLOAD_URL%/}"
    elif [ -n "${SKILLPM_VERSION:-}" ]; then
        echo "$RELEASES/download/v${SKILLPM_VERSION#v}"
    else
        echo "$RELEASES/latest/download"
    fi
}

find_directory() {
    if [ -n "${SKILLPM_INSTALL_DIR:-}" ]; then
        echo "$SKILLPM_INSTALL_DIR"
    elif [ -n "${XDG_BIN_HOME:-}" ]; then
        echo "$XDG_BIN_HOME"
    elif [ -n "${HOME:-}" ]; then
        echo "$HOME/.local/bin"
    else
        fail "HOME is not set" "set SKILLPM_INSTALL_DIR to the directory for the program"
    fi
}

check_tools() {
    for tool in uname mktemp tar cut; do
        has "$tool" || fail "\`$tool\` was not found" "install it with the package manager of your system"
    done
    # The tar of GNU calls xz; those of macOS and busybox need no other program.
    case "$(tar --version 2>/dev/null)" in
        *GNU*) has xz || fail "\`xz\` was not found" "install it: Debian's package is \`xz-utils\`, others call it \`xz\`" ;;
    esac
    has curl || has wget || fail "neither \`curl\` nor \`wget\` was found" "install one with the package manager of your system"
    has sha256sum || has shasum || has openssl \
        || fail "none of \`sha256sum\`, \`shasum\` and \`openssl\` was found" "install one: without it the download cannot be checked"
}

say_how_to_call() {
    case ":$PATH:" in
        *":$1:"*)
            found=$(command -v skillpm)
            if [ "$found" != "$1/skillpm" ]; then
                echo "hint: \`skillpm\` still runs $found, which comes earlier on PATH"
            fi
            ;;
        *)
            echo "hint: the directory is not on PATH. Add this line to ~/.profile (bash), ~/.zprofile (zsh):"
            echo "  export PATH=\"$1:\$PATH\""
            echo "fish: fish_add_path \"$1\""
            ;;
    esac
}

main() {
    case "${1:-}" in
        "") ;;
        -h | --help)
            usage
            exit 0
            ;;
        *) fail "unknown argument \`$1\`" "\`sh install.sh --help\` lists what can be set" ;;
    esac
    check_tools
    target=$(find_target) || exit 1
    release=$(address_of_release) || exit 1
    directory=$(find_directory) || exit 1
    name=skillpm-$target.tar.xz

    work=$(mktemp -d) || fail "no temporary directory could be made" "set TMPDIR to a directory that can be written"
    new=
    trap 'rm -rf "$work"; [ -z "$new" ] || rm -f "$new"' EXIT
    trap 'exit 130' INT
    trap 'exit 143' HUP TERM

    echo "downloading $release/$name"
    download "$release/$name" "$work/$name"
    download "$release/$name.sha256" "$work/$name.sha256"
    wanted=$(cut -d ' ' -f 1 <"$work/$name.sha256")
    actual=$(sha256_of "$work/$name")
    if [ -z "$wanted" ] || [ "$wanted" != "$actual" ]; then
        fail "$name has the SHA-256 $actual, but $wanted was published: nothing was installed" \
            "try again; if it stays so, report it at https://github.com/skillpm/skillpm/security"
    fi
    tar -xJf "$work/$name" -C "$work" || fail "$name could not be unpacked" "install \`xz\` and the tar of GNU"
    program=$work/skillpm-$target/skillpm
    version=$("$program" --version 2>&1) || fail "the program does not run on this machine: $version" \
        "\`cargo install --locked skillpm\` builds it with Rust"

    # Beside its place, then renamed: another skillpm that is running goes on, and no half file is ever there.
    mkdir -p "$directory" || fail "could not make the directory $directory" "set SKILLPM_INSTALL_DIR to another one"
    directory=$(cd "$directory" && pwd) || fail "could not enter the directory"
    new=$directory/.skillpm.$$
    { cp "$program" "$new" && chmod 755 "$new" && mv -f "$new" "$directory/skillpm"; } \
        || fail "could not write into $directory" "set SKILLPM_INSTALL_DIR to another one"
    echo "installed $directory/skillpm: $(echo "$version" | head -n 1)"
    say_how_to_call "$directory"
}

# Called on the last line, so that a download that was cut off does nothing.
main "$@"
