import type { ChosenFiling, FileItem, Item } from './item.ts';
import { fileKey } from './name-check.ts';

/** Finds the filings of which every chosen file exists, those among them that lines name, too. */
export class CompleteFilings {
  /** Files that lines name: the filings that wait for one that has not ended, or that it failed. */
  readonly #named = new Map<string, ChosenFiling[] | 'failed'>();

  /** To be told of each file as it is handed out. */
  taken({ accession, fileName, filing }: FileItem): void {
    if (!filing) this.#named.set(fileKey(accession, fileName), []);
  }

  /** To be told of each item as it has ended, and of a file whether it exists then. Gives the filings that are complete now. */
  ended(item: Item, exists: boolean): readonly ChosenFiling[] {
    if (item.kind !== 'file' && item.kind !== 'refused' && item.kind !== 'again') return [];
    const { filing } = item;
    const key = fileKey(item.accession, item.fileName);
    const named = this.#named.get(key);
    if (item.kind === 'again') {
      if (Array.isArray(named) && filing) named.push(filing);
      return Array.isArray(named) ? [] : settled(filing, named === undefined);
    }
    if (filing) return settled(filing, exists);
    if (exists) this.#named.delete(key);
    else this.#named.set(key, 'failed');
    return Array.isArray(named) ? named.flatMap((waiting) => settled(waiting, exists)) : [];
  }
}

function settled(filing: ChosenFiling | undefined, exists: boolean): readonly ChosenFiling[] {
  if (filing === undefined) return [];
  filing.due -= 1;
  filing.isWhole &&= exists;
  return filing.due === 0 && filing.isWhole ? [filing] : [];
}
