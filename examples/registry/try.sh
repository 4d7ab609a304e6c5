#!/bin/sh
# The life of a registry, from the first file to a machine without a network:
#
#     sh examples/registry/try.sh
#
# It publishes two skills, installs and updates them, withdraws a version, copies the registry and installs from the
# copy. Each step checks what it claims, and the script stops at the first claim that does not hold.
#
# It needs `skillpm` in the PATH, or its path in SKILLPM. Everything happens in a temporary directory with a home of
# its own, which is removed at the end: your own skills and settings are not touched.
set -eu

skillpm=$(command -v "${SKILLPM:-skillpm}") || { echo 'install skillpm first, or set SKILLPM to its path' >&2; exit 1; }
case $skillpm in
/*) ;;
*) skillpm=$PWD/$skillpm ;; # the script changes its directory
esac
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
# Nothing is asked: what a terminal would be asked has a default.
exec </dev/null

# A home of its own, and nothing of the registries and caches that yours may have.
HOME=$place/home
export HOME
unset XDG_CONFIG_HOME XDG_CACHE_HOME XDG_DATA_HOME XDG_STATE_HOME
mkdir "$HOME"

# Tells the reader which step begins.
step() { printf '\n== %s\n' "$1"; }

# Stops unless two texts are the same: is WHAT ACTUAL EXPECTED.
is() {
    if [ "$2" != "$3" ]; then
        echo "failed: $1 is \`$2\`, not \`$3\`" >&2
        exit 1
    fi
    echo "ok: $1 is $2"
}

# Stops if a command succeeds: fails COMMAND...
fails() {
    if "$@"; then
        echo "failed: this should not work: $*" >&2
        exit 1
    fi
    echo "ok: refused, as it should be"
}

# Prints the version of a skill that agents find in this project.
version_of() { sed -n 's/^ *version: "\(.*\)"$/\1/p' ".agents/skills/$1/SKILL.md"; }

# Writes a skill: write_skill NAME VERSION WHAT-IT-NEEDS.
write_skill() {
    mkdir -p "$1"
    cat >"$1/SKILL.md" <<SKILL
---
name: $1
description: Shows how the $1 of this team looks. Use it when the user asks for a $1.
license: MIT
metadata:
  version: "$2"
$3
---

# $1

This is version $2.
SKILL
}

# Makes a project, a directory with a manifest, and goes there: project NAME REGISTRY.
project() {
    mkdir "$place/$1"
    cd "$place/$1"
    # `default` is the registry that is used if none is named.
    printf '[registries]\ndefault = "%s"\n' "$2" >skillpm.toml
}

step 'A directory becomes a registry. Any web server could serve it; here the projects read it from the disk.'
mkdir "$place/author"
cd "$place/author"
"$skillpm" registry init ../registry --name acme

step 'Two skills are published: `report` needs `style`, of which there are two versions.'
write_skill style 1.0.0 ''
"$skillpm" publish style --to ../registry
"$skillpm" bump minor style
"$skillpm" publish style --to ../registry
write_skill report 1.0.0 '  skill-dependencies: style@^1'
"$skillpm" publish report --to ../registry --dry-run
"$skillpm" publish report --to ../registry
# A published version never changes, not even by its author.
echo 'One more line.' >>report/SKILL.md
fails "$skillpm" publish report --to ../registry

step 'A project installs `report`, and `style` comes along: the highest version that `report` accepts.'
project first ../registry
"$skillpm" install 'report@^1'
is 'the version of report' "$(version_of report)" 1.0.0
is 'the version of style' "$(version_of style)" 1.1.0

step 'A new version appears, and the project gets it when it asks for it.'
cd "$place/author"
"$skillpm" bump minor style
"$skillpm" publish style --to ../registry
cd "$place/first"
# The lockfile holds what is installed: `install` alone restores that and takes nothing newer.
"$skillpm" install
is 'the version of style after install' "$(version_of style)" 1.1.0
"$skillpm" update
is 'the version of style after update' "$(version_of style)" 1.2.0

step 'Version 1.2.0 is yanked. Who has it locked still gets it; nobody else does.'
"$skillpm" registry yank -r ../registry style@1.2.0 --reason 'the wrong logo'
rm -r .agents
"$skillpm" install
is 'the locked version of style' "$(version_of style)" 1.2.0
project second ../registry
"$skillpm" install report
is 'the version of style in a new project' "$(version_of style)" 1.1.0

step 'The registry is copied: as a directory, and as one file with what the lockfile has.'
"$skillpm" registry mirror ../registry ../mirror
"$skillpm" registry verify -r ../mirror
"$skillpm" registry bundle ../registry ../skills.zip --locked
# From here on nobody has the registry. A new home has no cache either.
rm -r "$place/registry"
HOME=$place/other-home
mkdir "$HOME"

step 'A machine without a network installs from the copy.'
project third ../mirror
"$skillpm" install report --offline
is 'the version of report from the mirror' "$(version_of report)" 1.0.0
is 'the version of style from the mirror' "$(version_of style)" 1.1.0

step 'Another one installs from the file.'
HOME=$place/third-home
mkdir "$HOME"
project fourth ../skills.zip
"$skillpm" install report --offline
is 'the version of report from the bundle' "$(version_of report)" 1.0.0
is 'the version of style from the bundle' "$(version_of style)" 1.1.0

step 'Done: everything was as claimed.'
