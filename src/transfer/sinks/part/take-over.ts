import { constants } from 'node:fs';
import { type FileHandle, rename } from 'node:fs/promises';
import { GatheredFile } from '../../../disk/gathered-file.ts';
import { bytesOf } from '../../../disk/hash/sha256.ts';
import { openOwn } from '../../../disk/plain-file.ts';
import { type Leftover, trustedBytes } from './leftovers.ts';
import { PartFile } from './part-file.ts';
import { namesOf } from './part-name.ts';
import { dropQuietly, guarded, newPart, type PartPlace } from './part-place.ts';
import { RecordFile, readRecord } from './record-file.ts';
import type { ResumeRecord } from './resume-record.ts';

const { O_RDONLY, O_RDWR } = constants;

/**
 * Goes on with a part that another run left. Undefined when a third one was first, or it can't be used.
 * Throws `local_io`, the signal's reason.
 */
export async function takeOver(
  place: PartPlace,
  leftover: Leftover,
  signal: AbortSignal,
): Promise<PartFile | undefined> {
  return leftover.standing === 'abandoned' ? copied(place, leftover, signal) : renamed(place, leftover);
}

/** A dead owner's: one atomic rename to a name of our own decides who gets it. */
async function renamed(place: PartPlace, { base, standing }: Leftover): Promise<PartFile | undefined> {
  const { directory, uid } = place;
  const theirs = namesOf(base);
  const { part, record, base: own } = await placeholder(place);
  try {
    await rename(directory.entry(theirs.part), part);
    await rename(directory.entry(theirs.resume), record);
  } catch {
    await dropQuietly(place, part);
    return undefined;
  }
  const handle = await openOwn(part, O_RDWR, uid);
  const known = await RecordFile.open(record, place.identity, uid);
  const bytes = handle && known ? trustedBytes(standing, known, (await handle.stat()).size) : 0;
  if (!handle || !known || bytes === 0) {
    await Promise.all([handle?.close(), known?.file.close()]);
    await Promise.all([dropQuietly(place, part), dropQuietly(place, record)]);
    return undefined;
  }
  return PartFile.over(place, own, async () => {
    await known.file.restate(Math.min(known.flushed, bytes));
    return { file: await GatheredFile.continue(handle, bytes), record: known.file, of: known.record };
  });
}

/** An empty part, so that no other run can have the name that theirs is renamed to. Throws `local_io`. */
async function placeholder(place: PartPlace) {
  const { base, handle } = await guarded(place, () => newPart(place));
  await handle.close();
  const { part, resume } = namesOf(base);
  return { base, part: place.directory.entry(part), record: place.directory.entry(resume) };
}

/** One that may still have an owner: what was flushed goes into a part of our own, the original stays. */
async function copied(place: PartPlace, { base }: Leftover, signal: AbortSignal): Promise<PartFile | undefined> {
  const { directory, identity, uid } = place;
  const theirs = namesOf(base);
  const known = await readRecord(directory.entry(theirs.resume), identity, uid);
  const handle = known && (await openOwn(directory.entry(theirs.part), O_RDONLY, uid));
  if (!handle) return undefined;
  try {
    const before = await handle.stat();
    const bytes = trustedBytes('abandoned', known, before.size);
    const part = await copyOf(place, handle, bytes, known.record, signal);
    const after = await handle.stat();
    // Its owner has woken up, and may have begun anew with another version.
    const touched = after.mtimeMs !== before.mtimeMs || after.size !== before.size;
    if (!touched && part.held.bytes > 0) return part;
    await part.discard();
    return undefined;
  } finally {
    await handle.close();
  }
}

async function copyOf(
  place: PartPlace,
  from: FileHandle,
  bytes: number,
  { validator, total, address }: ResumeRecord,
  signal: AbortSignal,
): Promise<PartFile> {
  const part = await PartFile.create(place);
  try {
    await part.begin(validator, total ?? undefined, address);
    for await (const chunk of bytesOf(from, bytes)) {
      signal.throwIfAborted();
      await part.write([chunk]);
    }
    return part;
  } catch (error) {
    await part.discard();
    throw error;
  }
}
