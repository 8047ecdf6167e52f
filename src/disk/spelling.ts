import type { Directory } from './directory.ts';
import { twinKey } from './file-name.ts';

/**
 * How an entry is really spelled that a look-up of `name` finds: some disks take several names for one, by case or
 * by Unicode form. Undefined: exactly so, or not at all. Throws what the system says.
 */
export async function otherSpelling(directory: Directory, name: string): Promise<string | undefined> {
  const exists = async (spelling: string) => (await directory.disk.look(directory.entry(spelling))) !== undefined;
  // A disk that folds any case folds that of ASCII: the first name that it tells apart speaks for all.
  const isAscii = /^[\0-\x7f]*$/.test(name);
  if (isAscii && directory.tellsCase) return undefined;
  const forms = isAscii ? [] : [name.normalize('NFC'), name.normalize('NFD')];
  const variants = new Set([name.toUpperCase(), name.toLowerCase(), ...forms]);
  variants.delete(name);
  for (const variant of variants) if (await exists(variant)) return spelledOtherwise(directory.names(), name);
  // With the name gone meanwhile, not finding its variant says nothing.
  if (isAscii && variants.size > 0 && (await exists(name))) directory.tellsCase = true;
  return undefined;
}

/** The entry that a folding disk takes for `name`; undefined when `name` itself is among them, or none is. */
export async function spelledOtherwise(
  names: Iterable<string> | AsyncIterable<string>,
  name: string,
): Promise<string | undefined> {
  const key = twinKey(name);
  let other: string | undefined;
  for await (const entry of names) {
    if (entry === name) return undefined;
    if (other === undefined && twinKey(entry) === key) other = entry;
  }
  return other;
}
