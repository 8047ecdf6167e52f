#!/bin/sh
# A nightly mirror for cron. It runs once at a time, tries again after exit status 7, and prints nothing unless the run
# failed. It reads and writes only in its own directory.
set -u
cd "$(dirname "$0")" || exit
# cron's PATH is /usr/bin:/bin. The program is in ~/.local/bin, next to a link to Node.
PATH="$HOME/.local/bin:$PATH"

# The program inherits the lock, so it is held as long as a download runs, even if this script is killed.
exec 9>lock
flock -n -E 75 9 || case $? in 75) exit 0 ;; *) exit 1 ;; esac

tries=4
while :; do
  filings download -i accessions.txt --include 'ex*' -d exhibits --done exhibits.done --checksums \
    --report "report-$(date +%Y-%m).jsonl" --failed failed.txt \
    --stop-after 8h --quiet 2>errors.txt
  status=$?
  tries=$((tries - 1))
  if [ "$status" -ne 7 ] || [ "$tries" -eq 0 ]; then break; fi
  sleep "${MIRROR_PAUSE:-30m}" 9>&-
done

# cron mails all output.
case $status in
  0 | 10 | 143) ;;
  *)
    echo "filings: exit status $status"
    cat errors.txt
    ;;
esac
exit "$status"
