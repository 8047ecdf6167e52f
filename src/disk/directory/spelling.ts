import { twinKey } from '../file-name.ts';
import type { Directory } from './directory.ts';

/**
 * How an entry is really spelled that a look-up of `name` finds: some disks take several names for one, by case or
 * by Unicode form. Undefined: exactly so, or not at all. Throws what the system says.
 */
export async function otherSpelling(directory: Directory, name: string): Promise<string | undefined> {
  if ((await directory.few())?.has(name)) return undefined;
  const { tellsApart } = directory;
  // Other names that are the same one to a disk that folds at all.
  const byCase = tellsApart.case ? [] : [swapped(name), name.toUpperCase(), name.toLowerCase()];
  const byForm = tellsApart.form ? [] : [name.normalize('NFC'), name.normalize('NFD')];
  const [first] = byCase;
  for (const variant of new Set([...byCase, ...byForm])) {
    if (variant === name) continue;
    // Only then may the directory fold names; listing it for every file would cost much.
    const found = await look(directory, variant);
    if (found === 'there') return spelledOtherwise(directory.names(), name);
    // A disk that folds any case folds that of ASCII.
    const question = variant === first ? 'case' : byForm.includes(variant) ? 'form' : undefined;
    // With the name gone meanwhile, not finding its variant would say nothing.
    if (question && found === 'absent' && (await look(directory, name)) === 'there') tellsApart[question] = true;
  }
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

function look(directory: Directory, name: string): Promise<'there' | 'absent' | 'unknown'> {
  return directory.disk.look(directory.entry(name)).then(
    (stat) => (stat ? 'there' : 'absent'),
    () => 'unknown',
  );
}

/** With the case of its ASCII letters turned round. */
function swapped(name: string): string {
  return name.replace(/[a-z]+|[A-Z]+/g, (run) => (run < 'a' ? run.toLowerCase() : run.toUpperCase()));
}
