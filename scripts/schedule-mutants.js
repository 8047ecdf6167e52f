// Defects that playing schedules has to find: `node scripts/schedules.js --mutants`. Each is a text of the sources and what stands in its
// place.
export const MUTANTS = [
  {
    name: 'a done line before the files',
    file: 'src/transfer/mirror/ledger.ts',
    from: '=> this.#tracker.taken(item);',
    to: "=> { this.#tracker.taken(item); if (item.kind === 'file') void this.#books.done?.add(item.accession, 1); };",
  },
  {
    name: 'a failed file counts as there',
    file: 'src/transfer/mirror/ledger.ts',
    from: '(outcome !== undefined && isThere(outcome))',
    to: 'outcome !== undefined',
  },
  {
    name: 'a file is reported twice after a retry',
    file: 'src/transfer/mirror/ledger.ts',
    from: 'await report?.write(reportLine(ended, errorOf));',
    to: 'for (let n = 0; n < Math.min(2, ended.attempts || 1); n += 1) await report?.write(reportLine(ended, errorOf));',
  },
  {
    name: 'a file is reported before it has its name',
    file: 'src/transfer/sinks/part/part-file.ts',
    from: 'const placed = await giveFinalName(this.#place, this.#base, exclusive, signal);',
    to: "void giveFinalName(this.#place, this.#base, exclusive, signal); const placed = 'placed' as Placed;",
  },
  {
    name: 'a checksum before the file',
    file: 'src/transfer/mirror/attempt.ts',
    from: 'const fetched = await fetchToDisk(',
    to: "if (checksums) await keepChecksum({ result: 'downloaded', sha256: '0'.repeat(64) } as Outcome, target, checksums, fetching.places, signal);\n  const fetched = await fetchToDisk(",
  },
  {
    name: 'two runs share a part',
    file: 'src/transfer/sinks/part/leftovers.ts',
    from: 'partNames(final, self, nextSerial())',
    to: 'partNames(final, { ...self, pid: 1 }, nextSerial())',
    also: {
      file: 'src/disk/calls/disk.ts',
      from: 'O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW',
      to: 'O_RDWR | O_CREAT | constants.O_TRUNC | O_NOFOLLOW',
    },
  },
  {
    name: 'the part of a live run is taken',
    file: 'src/disk/owner/owner.ts',
    from: "return isGone(owner, process) ? 'gone' : 'alive';",
    to: "return 'gone';",
  },
  {
    name: 'a reset ends a body',
    file: 'src/http/exchange/body-end.ts',
    from: 'return reset || lostItsPeer(connection) ?',
    to: 'return reset ?',
  },
  {
    name: 'Retry-After is not kept',
    file: 'src/service/client.ts',
    from: 'if (after === undefined)',
    to: 'if (after !== 0)',
  },
  {
    name: 'Retry-After is kept by one job alone',
    file: 'src/service/client.ts',
    from: 'pace.pause(after);',
    to: '{}',
  },
  {
    name: 'redirects do not count',
    file: 'src/service/client.ts',
    from: 'this.#options.meter?.request();',
    to: 'if (url === resource) this.#options.meter?.request();',
  },
  {
    name: 'redirects do not wait for their turn',
    file: 'src/service/client.ts',
    from: 'if (!first) await this.turn(signal);',
    to: '',
  },
  {
    name: 'the deadline does not end a wait',
    file: 'src/abort.ts',
    from: 'await orAbort(over, signal).finally(() => clearTimeout(timer));',
    to: 'await over.finally(() => clearTimeout(timer));',
  },
  {
    name: 'one that was cut is a failure for good',
    file: 'src/transfer/many/verdict.ts',
    from: "const code = onlyTemporary ? 'temporary' : 'partial';",
    to: "const code = 'partial';",
  },
  {
    name: 'a stalled body is waited for without end',
    file: 'src/http/exchange/watchdog.ts',
    from: 'if (left <= 0) this.#onIdle();',
    to: 'if (left <= 0) return;',
  },
  {
    name: 'a part that cannot be resumed stays',
    file: 'src/transfer/sinks/part/part-file.ts',
    from: 'there ? dropQuietly(this.#place, this.#part) : undefined',
    to: 'undefined',
  },
];
