import { PART_SUFFIX_BYTES } from '../../disk/file-name.ts';
import { digest, OWNER_PATTERN, type Owner, ownerText, parseOwner } from './owner.ts';

const LONGEST_NAME_BYTES = 255;
const OWNED = new RegExp(`^\\.(.+)\\.(${OWNER_PATTERN})\\.([0-9a-z]{8})\\.(part|lock)$`, 's');
const RECORD = /^\.(.+)\.([0-9a-z]{8})\.resume$/s;

/** `part`: the bytes; `lock`: somebody is about to put a file under its final name; `resume`: the record beside a part. */
export type PartName =
  | { readonly kind: 'part' | 'lock'; readonly stem: string; readonly id: string; readonly owner: Owner }
  | { readonly kind: 'resume'; readonly stem: string; readonly id: string };

/** What stands for a final name in its parts' names: the name itself, or a digest where `-o` chose a very long one. */
export function stemOf(final: string): string {
  const fits = Buffer.byteLength(final) + PART_SUFFIX_BYTES <= LONGEST_NAME_BYTES;
  return fits ? final : `long-${digest(final)}`;
}

/** The name of a part, or of the lock that its run lays: taking it over is one rename to another owner's. */
export function partName(stem: string, owner: Owner, id: string, kind: 'part' | 'lock' = 'part'): string {
  return `.${stem}.${ownerText(owner)}.${id}.${kind}`;
}

/** The name of a part's record, which stays whoever takes the part over. */
export function recordName(stem: string, id: string): string {
  return `.${stem}.${id}.resume`;
}

/** A new id, from a random number in [0, 1). */
export function newId(random: number): string {
  return Math.floor(random * 36 ** 8)
    .toString(36)
    .padStart(8, '0');
}

/** Reads a name as a part's, a lock's or a record's; undefined for any other file. */
export function parsePartName(name: string): PartName | undefined {
  const [, stem, owner, id, kind] = OWNED.exec(name) ?? [];
  if (stem !== undefined && owner !== undefined && id !== undefined)
    return { kind: kind === 'lock' ? 'lock' : 'part', stem, id, owner: parseOwner(owner) };
  const [, ofStem, ofId] = RECORD.exec(name) ?? [];
  return ofStem !== undefined && ofId !== undefined ? { kind: 'resume', stem: ofStem, id: ofId } : undefined;
}

/** Whether a name is of the kind that these have, whichever version made it: no file's final name begins with a dot. */
export function isPartLike(name: string): boolean {
  return /^\..+\.(?:part|resume|lock)$/s.test(name);
}
