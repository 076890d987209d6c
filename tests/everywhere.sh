#!/bin/sh
# `make test` where people run it, not only where it was written. Takes long: it is no part of CI.
#   tests/everywhere.sh                    every circumstance at once, first as root, then as somebody else
#   tests/everywhere.sh zone one-core …    only these, each in a run of its own, to find which one a failure comes from
# PASSES="site" and WORDS="-x tests/deploy" choose what is run (python -m tests.passes); KEEP=1 leaves the clone.
# PYTHON names the Python; other people than root must be able to run it. PORT is the site's, where 8000 is taken.
set -u
here=$(cd "$(dirname "$0")/.." && pwd)
folder="${TMPDIR:-/tmp}/pyramidion everywhere"
clone="$folder/a path with spaces"
python=${PYTHON:-$(command -v python3)}
port=${PORT:-8000}
all="background no-terminal spaces german zone beside-a-site one-core"
codes=""

say() { printf '== everywhere: %s\n' "$*"; }

prepare() {
  mkdir -p "$folder" && chmod 755 "$folder"
  [ -d "$clone" ] || git clone --quiet "$here" "$clone" || exit 1
  (cd "$clone" && git pull --quiet && make PYTHON="$python" .venv/dev && tests/prepare.sh) || exit 1
}

# A site of its own on the usual ports, in the same clone: what it writes lies where the tests might look.
start_site() {
  (cd "$clone" && exec env BIND="127.0.0.1:$port" MARKETPLACE_BIND="127.0.0.1:$((port + 1))" make PYTHON="$python" run) > "$folder/site.log" 2>&1 &
  site=$!
  for _ in $(seq 120); do
    "$python" -c "import urllib.request; urllib.request.urlopen('http://127.0.0.1:$port/healthz')" 2> /dev/null && return
    sleep 1
  done
  say "the site did not start, see $folder/site.log"
}

# attempt NAME USER CIRCUMSTANCE …
attempt() {
  name=$1 user=$2
  shift 2
  words="" before="" around="" site=""
  for circumstance in "$@"; do
    case $circumstance in
      background) before="trap '' INT;" ;;
      no-terminal) around="setsid --wait $around" ;;
      spaces) ;; # the clone's path has them
      german)
        locale -a 2> /dev/null | grep -qi '^de_DE.utf' || say "de_DE.UTF-8 is not made here (apt-get install locales-all brings it): only the names of the locale are set"
        words="$words LANG=de_DE.UTF-8 LC_ALL=de_DE.UTF-8 LANGUAGE=de" ;;
      zone) words="$words TZ=Pacific/Kiritimati" ;;
      beside-a-site) start_site ;;
      one-core) around="taskset -c 0 $around" ;;
      not-root) user=nobody ;;
      *) say "there is no circumstance $circumstance; there are $all not-root"; exit 2 ;;
    esac
  done
  [ "$user" = "$(id -un)" ] || runuser -u "$user" -- "$python" -V > /dev/null 2>&1 ||
    { say "$user can't run $python: name another with PYTHON, such as /usr/bin/python3"; exit 2; }
  [ "$user" = root ] || chown -R "$user" "$folder"
  log="$folder/$name.log"
  say "$name as $user: $*"
  # shellcheck disable=SC2086  # lists of words are meant to be split
  (
    cd "$clone" || exit 1
    eval "$before"
    run="env $words HOME=/tmp make PYTHON=$python test"
    if [ "$user" = "$(id -un)" ]; then $around $run; else $around runuser -u "$user" -- $run; fi
  ) < /dev/null > "$log" 2>&1
  code=$?
  [ "$user" = root ] || chown -R root "$folder"
  [ -z "$site" ] || { kill -TERM "$site" 2> /dev/null; wait "$site" 2> /dev/null; }
  grep -e '^FAILED' -e '^== .* passes are green' "$log" | sort -u
  say "$name: exit code $code ($log)"
  codes="$codes $code"
}

prepare
if [ $# -gt 0 ]; then
  for circumstance in "$@"; do attempt "$circumstance" "$(id -un)" "$circumstance"; done
else
  # shellcheck disable=SC2086
  attempt everything "$(id -un)" $all
  # shellcheck disable=SC2086
  [ "$(id -u)" != 0 ] || attempt everything-not-root nobody $all
fi
[ -n "${KEEP:-}" ] || rm -rf "$folder"
case "$codes " in *" "[1-9]*) exit 1 ;; esac
