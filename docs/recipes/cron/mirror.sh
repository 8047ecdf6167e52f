#!/bin/sh
# From cron: one run at a time, again where waiting helps, and not a word where nobody has to do anything.
# All that it reads and writes is in the folder that it stands in.
set -u
cd "$(dirname "$0")" || exit
# cron's PATH is /usr/bin:/bin; the program is in ~/.local/bin, and a link to Node beside it.
PATH="$HOME/.local/bin:$PATH"

# The program inherits the lock: it is held as long as a download runs, whatever becomes of this script.
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

# cron sends what it hears by mail.
case $status in
  0 | 10) ;;
  *)
    echo "filings: exit status $status"
    cat errors.txt
    ;;
esac
exit "$status"
