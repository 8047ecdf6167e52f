import { type ByteText, readable } from '../../../disk/byte-text.ts';
import { readFailure } from '../../../disk/failure.ts';
import { errnoOf, FilingsError } from '../../../errors.ts';
import { isPartLike } from '../../sinks/part/part-name.ts';
import { type CountingEntry, countingEntries, indexSums, type SumsIndex } from '../counting-entries.ts';
import { rewriteSums } from '../rewrite.ts';
import { type OpenSums, openSums } from '../sums-file.ts';
import { isPlainEntry } from '../sums-line.ts';
import type { Finding, VerifyCounts } from './findings.ts';
import type { Found, HashAnswer, HashOrder } from './hash-order.ts';
import type { HashThreads } from './hash-threads.ts';
import { type FoundDirectory, filesOf, joined } from './tree.ts';

/** Small files go to a thread so many at once. */
const FILES_AN_ORDER = 64;
const FINDINGS_AT_ONCE = 1024;

/** What verifying one directory after the other works with. */
export interface Checking {
  readonly threads: HashThreads;
  readonly counts: VerifyCounts;
  /** Takes what was found, in no order; it is waited for. */
  readonly tell: (findings: readonly Finding[]) => Promise<void>;
  /** Takes what could not be looked at; the rest goes on. */
  readonly fail: (error: FilingsError) => void;
  readonly note: (text: string) => void;
  readonly prune: boolean;
  readonly uid: number | undefined;
  readonly signal: AbortSignal;
}

/**
 * Hands a directory's listed files to the threads, looks for files that are not listed, and rewrites its checksum files
 * when that is wanted. Resolves while threads may still be at it; the directory is released after them.
 * @throws the signal's reason, what `tell` throws
 */
export async function checkDirectory(found: FoundDirectory, checking: Checking): Promise<void> {
  const { path, held, sums } = found;
  checking.counts.directories += 1;
  const files: OpenSums[] = [];
  try {
    for (const name of sums) {
      await attempt(checking, joined(path, name), async (shown) => {
        const file = await openSums(held.entry(name), shown);
        if (file !== undefined) files.push(file);
      });
    }
    // Where shards changed, a name may stand in several: what was appended last counts.
    files.sort((a, b) => (a.changed < b.changed ? -1 : a.changed > b.changed ? 1 : 0));
    await attempt(checking, joined(path, 'SHA256SUMS'), () => checkListed(files, found, checking));
    if (checking.prune) await prune(found, checking);
  } finally {
    for (const file of files) await file.close();
    await held.release();
  }
}

function garbage(lines: number): string {
  return lines === 1 ? '1 line that is no entry' : `${lines} lines that are no entries`;
}

async function checkListed(files: readonly OpenSums[], found: FoundDirectory, checking: Checking): Promise<void> {
  const index = await indexSums(files, checking.signal);
  const shown = readable(joined(found.path, 'SHA256SUMS'));
  if (index.garbage > 0) checking.note(`${shown}: passed over ${garbage(index.garbage)}`);
  let batch: CountingEntry[] = [];
  for await (const entries of countingEntries(files, index)) {
    for (const entry of entries) {
      if (!isPlainEntry(entry.name)) {
        await refuse(entry.name, found, checking);
        continue;
      }
      batch.push(entry);
      if (batch.length < FILES_AN_ORDER) continue;
      await hand(batch, found, checking);
      batch = [];
    }
  }
  if (batch.length > 0) await hand(batch, found, checking);
  await tellUnlisted(index, found, checking);
}

/** An entry that is no name in its directory is never opened: no file of it can be what is listed. */
async function refuse(name: ByteText, { path }: FoundDirectory, { counts, note, tell }: Checking): Promise<void> {
  counts.refused += 1;
  counts.missing += 1;
  note(`${readable(joined(path, 'SHA256SUMS'))}: '${readable(name)}' is no name in that directory: not opened`);
  await tell([{ result: 'missing', path: `${path}/${name}` }]);
}

async function hand(batch: readonly CountingEntry[], found: FoundDirectory, checking: Checking): Promise<void> {
  found.held.use();
  await checking.threads.hash(orderOf(batch, found), (answer) => take(batch, answer, found, checking));
}

function orderOf(batch: readonly CountingEntry[], { held }: FoundDirectory): HashOrder {
  const names = batch.map(({ name }) => name);
  return { directory: held.path, names, sha256: batch.map(({ sha256 }) => sha256) };
}

/** What a thread found; the directory is let go of. */
async function take(
  batch: readonly CountingEntry[],
  { found: results }: HashAnswer,
  found: FoundDirectory,
  checking: Checking,
): Promise<void> {
  const findings: Finding[] = [];
  batch.forEach((entry, index) => {
    const result = results[index];
    if (result === 'large') {
      found.held.use();
      checking.threads.hashLarge(orderOf([entry], found), (answer) => take([entry], answer, found, checking));
    } else if (result !== undefined) findings.push(...findingOf(entry, result, found, checking));
  });
  await found.held.release();
  if (findings.length > 0) await checking.tell(findings);
}

function findingOf(
  { name, open }: CountingEntry,
  result: Exclude<Found, 'large'>,
  { path }: FoundDirectory,
  { counts, fail, note }: Checking,
): Finding[] {
  const file = joined(path, name);
  if (typeof result === 'object') {
    counts.unreadable += 1;
    fail(readFailure(Object.assign(new Error(result.errno), { code: result.errno }), readable(file)));
    return [];
  }
  // A torn line may hold half a name.
  if (result === 'missing' && open) {
    note(`${readable(joined(path, 'SHA256SUMS'))}: its last line is torn: '${readable(name)}' is passed over`);
    return [];
  }
  counts[result] += 1;
  return result === 'same' ? [] : [{ result, path: file }];
}

/** Files that no checksum file lists; parts of downloads and their records are not meant to be. */
async function tellUnlisted({ last }: SumsIndex, { path, held, names }: FoundDirectory, checking: Checking) {
  let findings: Finding[] = [];
  for await (const name of names ?? filesOf(held)) {
    if (last.get(name) !== undefined || isPartLike(name)) continue;
    checking.counts.unlisted += 1;
    findings.push({ result: 'unlisted', path: joined(path, name) });
    if (findings.length < FINDINGS_AT_ONCE) continue;
    checking.signal.throwIfAborted();
    await checking.tell(findings);
    findings = [];
  }
  if (findings.length > 0) await checking.tell(findings);
}

async function prune({ path, held, sums, leftovers }: FoundDirectory, checking: Checking): Promise<void> {
  for (const name of sums) {
    await attempt(checking, joined(path, name), (shown) =>
      rewriteSums(
        { sums: name, entry: held.entry, shown, uid: checking.uid, leftovers: leftovers.get(name) ?? [] },
        checking.signal,
      ),
    );
  }
}

/** What goes wrong with one checksum file is told, and the rest goes on. */
async function attempt({ counts, fail, signal }: Checking, path: ByteText, work: (shown: string) => Promise<void>) {
  const shown = readable(path);
  try {
    await work(shown);
  } catch (error) {
    const known = error instanceof FilingsError && error.code === 'local_io';
    if (signal.aborted) throw signal.reason;
    if (!known && errnoOf(error) === undefined) throw error;
    counts.unreadable += 1;
    fail(readFailure(error, shown));
  }
}
