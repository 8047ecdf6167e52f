import { FilingsError } from '../../errors.ts';
import type { AccessionNumber } from '../../service/accession.ts';
import type { Expanded } from './expanded.ts';
import type { Layout } from './layout.ts';
import { Seen } from './seen/seen.ts';

/** A file by its name, from a line or a listing. */
export interface NamedFile {
  readonly accession: AccessionNumber;
  readonly fileName: string;
  readonly size: number | undefined;
  readonly listed: boolean;
}

/** Decides what becomes of each name of a run: fetched, refused, or known already. */
export class NameCheck {
  readonly #layout: Layout;
  readonly #seen: Seen;

  constructor(layout: Layout) {
    this.#layout = layout;
    this.#seen = new Seen(layout.holdsAccession ? 'own' : 'shared');
  }

  /** Undefined: named a second time, of which nobody needs to hear. */
  check(file: NamedFile): Expanded | undefined {
    const { accession, fileName, size, listed } = file;
    const placed = this.#layout.place(accession, fileName);
    const sight = placed.fault ? this.#seen.addUnplaced(accession, fileName) : this.#seen.add(accession, fileName);
    if (sight === 'again') return listed ? { kind: 'again', accession, fileName } : undefined;
    if (placed.fault) return refused(file, placed.fault.reason, placed.fault.hint);
    if (sight === 'twin') return refused(file, TWIN, TWIN_HINT);
    return { kind: 'file', accession, fileName, path: placed.path, size, listed };
  }
}

const TWIN = 'it may be one file with another one of the run on some disks, whatever its case and accents';
const TWIN_HINT = 'download it by itself, under another name: -o PATH';

function refused({ accession, fileName, listed }: NamedFile, reason: string, hint: string | undefined): Expanded {
  const error = new FilingsError('integrity', `file name '${fileName}' of ${accession}: ${reason}`, {
    ...(hint === undefined ? {} : { hint }),
  });
  return { kind: 'refused', accession, fileName, error, listed };
}
