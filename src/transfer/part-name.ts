import { createHash } from 'node:crypto';
import { PART_SUFFIX_BYTES } from '../disk/file-name.ts';
import { OWNER_PATTERN, type Owner, ownerText, parseOwner } from '../disk/owner.ts';

const LONGEST_NAME_BYTES = 255;
const PART = new RegExp(`^\\.(.+)\\.(${OWNER_PATTERN})\\.([0-9a-z]{1,6})\\.(part|resume)$`, 's');

export interface PartName {
  /** Tells for which final name the part is. */
  readonly stem: string;
  readonly owner: Owner;
  readonly kind: 'part' | 'resume';
}

/** What stands for a final name in its parts' names: the name itself, or a digest where `-o` chose a very long one. */
export function stemOf(final: string): string {
  if (Buffer.byteLength(final) + PART_SUFFIX_BYTES <= LONGEST_NAME_BYTES) return final;
  return `long-${createHash('sha256').update(final).digest('hex').slice(0, 32)}`;
}

/** The names of a part and of the record beside it; `serial` tells the parts of one process apart. */
export function partNames(final: string, owner: Owner, serial: string): { part: string; resume: string } {
  const name = `.${stemOf(final)}.${ownerText(owner)}.${serial}`;
  return { part: `${name}.part`, resume: `${name}.resume` };
}

/** The record's name beside a part's. */
export function resumeNameOf(part: string): string {
  return part.replace(/part$/, 'resume');
}

/** Reads a name as a part's or a record's; undefined for any other file. */
export function parsePartName(name: string): PartName | undefined {
  const [, stem, ownerPart, , kind] = PART.exec(name) ?? [];
  const owner = ownerPart === undefined ? undefined : parseOwner(ownerPart);
  return stem !== undefined && owner ? { stem, owner, kind: kind as PartName['kind'] } : undefined;
}
