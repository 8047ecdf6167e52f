import { createHash } from 'node:crypto';
import { PART_SUFFIX_BYTES } from '../../../disk/file-name.ts';
import { OWNER_PATTERN, type Owner, ownerText, parseOwner } from '../../../disk/owner/owner.ts';

const LONGEST_NAME_BYTES = 255;
const PART = new RegExp(`^(\\.(.+)\\.(${OWNER_PATTERN})\\.[0-9a-z]{1,6})\\.(part|resume|lock)$`, 's');

/** `part`: the bytes; `resume`: the record beside them; `lock`: somebody is about to put a file under its final name. */
export type PartKind = 'part' | 'resume' | 'lock';

export interface PartName {
  /** The name without its kind: a part and its record share it. */
  readonly base: string;
  /** Tells for which final name the part is. */
  readonly stem: string;
  readonly owner: Owner;
  readonly kind: PartKind;
}

/** What stands for a final name in its parts' names: the name itself, or a digest where `-o` chose a very long one. */
export function stemOf(final: string): string {
  if (Buffer.byteLength(final) + PART_SUFFIX_BYTES <= LONGEST_NAME_BYTES) return final;
  return `long-${createHash('sha256').update(final).digest('hex').slice(0, 32)}`;
}

/** The names of a part and of what stands beside it; `serial` tells the parts of one process apart. */
export function partNames(final: string, owner: Owner, serial: string): Readonly<Record<PartKind, string>> {
  return namesOf(`.${stemOf(final)}.${ownerText(owner)}.${serial}`);
}

/** The names that share a base. */
export function namesOf(base: string): Readonly<Record<PartKind, string>> {
  return { part: `${base}.part`, resume: `${base}.resume`, lock: `${base}.lock` };
}

/** The base of a part's name. */
export function baseOf(part: string): string {
  return part.slice(0, -'.part'.length);
}

/** Whether a name is of the kind that these have, whichever version made it: no file's final name begins with a dot. */
export function isPartLike(name: string): boolean {
  return /^\..+\.(?:part|resume|lock)$/s.test(name);
}

/** Reads a name as a part's, a record's or a lock's; undefined for any other file. */
export function parsePartName(name: string): PartName | undefined {
  const [, base, stem, ownerPart, kind] = PART.exec(name) ?? [];
  const owner = ownerPart === undefined ? undefined : parseOwner(ownerPart);
  return base !== undefined && stem !== undefined && owner ? { base, stem, owner, kind: kind as PartKind } : undefined;
}
