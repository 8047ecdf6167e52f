#!/bin/bash
# Mirrors filings by several hosts, which see one directory under one name, as this machine does. From a list of any
# length, in blocks of lines; the hosts need not see the list:
#
#   HOSTS=n1,n2 mirror.sh /shared/mirror --include 'ex*' < accessions.txt
#
# Or from a folder of lists, one job for each *.txt in it, which the hosts read themselves:
#
#   HOSTS=n1,n2 LISTS=/shared/lists mirror.sh /shared/mirror --include 'ex*'
#
# All that follows the directory goes to `filings download`. The address and the key are in the config file of your home
# directory on each host. The same command again goes on: complete filings are passed over.
set -uo pipefail

hosts=${HOSTS:?HOSTS=n1,n2 names the hosts, as ssh knows them}
directory=${1:?mirror.sh DIRECTORY [OPTION...]}
shift
# A login on another host begins somewhere else.
absolute() { realpath --canonicalize-missing --no-symlinks -- "$1"; }
directory=$(absolute "$directory") || exit
lists=${LISTS:+$(absolute "$LISTS")}
rounds=${ROUNDS:-3}
# A host that lost its power never says so: without these, its connection would be waited for for ever.
export PARALLEL_SSH=${PARALLEL_SSH:-ssh -o ConnectTimeout=10 -o ServerAliveInterval=15}

# Of its own for each block or list, since appending is not safe on a network file system.
own=$directory.jobs
joblog=$own/joblog
mkdir -p "$own" || exit
input=/dev/null
if [ -z "$lists" ]; then
  # Kept, so that a block can be given to another host.
  input=$(mktemp) || exit
  trap 'rm -f "$input"' EXIT
  cat >"$input" || exit
fi

living() {
  local host
  for host in ${hosts//,/ }; do
    if $PARALLEL_SSH "$host" true </dev/null >&2; then echo "$host"; fi
  done | paste --serial --delimiters=,
}

# What the joblog does not have yet.
run_rest() {
  local on=(parallel --sshlogin "$1" --jobs "${JOBS:-1}" --resume --joblog "$joblog" --quote)
  local to=(--directory "$directory")
  shift
  if [ -n "$lists" ]; then
    "${on[@]}" filings download --input {} "${to[@]}" \
      --done "$own/{/.}.done" --report "$own/{/.}.jsonl" --failed "$own/{/.}.failed" "$@" ::: "$lists"/*.txt
  else
    "${on[@]}" --pipe -N "${LINES_EACH:-500}" filings download --input - "${to[@]}" \
      --done "$own/{#}.done" --report "$own/{#}.jsonl" --failed "$own/{#}.failed" "$@" <"$input"
  fi
}

# 7 may pass, 255 is ssh's own, and from 128 on it was a signal's end. 3 is through, and 10 is for tomorrow.
readonly passes='NR > 1 && ($7 == 7 || $7 >= 128 || $8 != 0)'

rm -f "$joblog"
for ((round = 1; round <= rounds; round += 1)); do
  if [ "$round" -gt 1 ]; then
    awk "$passes { found = 1 } END { exit !found }" "$joblog" || break
    # What is struck from the joblog is run again.
    awk "!($passes)" "$joblog" >"$joblog.rest" && mv "$joblog.rest" "$joblog" || exit
  fi
  on=$(living)
  if [ -z "$on" ]; then
    echo "mirror: none of $hosts can be reached by ssh" >&2
    exit 7
  fi
  run_rest "$on" "$@"
done
# 7 where something may still pass, else how the first job that did not end well ended.
awk "$passes { again = 1 } NR > 1 && \$7 != 0 && !code { code = \$7 } END { exit again ? 7 : code }" "$joblog"
