import { createHash } from 'node:crypto';
import type { AccessionNumber } from '../../../service/accession.ts';

/** What decides on which files of a filing are chosen, and where they go. */
export interface Selection {
  /** Its base URL, normalised: ends in a slash, not in `/v1/`; or `sandbox`. */
  readonly service: string;
  readonly include: readonly string[];
  readonly exclude: readonly string[];
  readonly layout: string;
  /** Absolute. */
  readonly directory: string;
}

/** A filing whose chosen files all stood. */
export interface DoneEntry {
  readonly accession: AccessionNumber;
  /** See `selectionId`. */
  readonly selection: string;
  /** Milliseconds since the epoch. */
  readonly time: number;
  /** How many files were chosen. */
  readonly files: number;
}

/**
 * 16 hex digits of SHA-256 over the JSON array of service, include globs, exclude globs, layout and
 * directory: one list serves several selections. In which order globs were typed, and whether twice,
 * changes nothing. Never to be changed: every list would be void.
 */
export function selectionId({ service, include, exclude, layout, directory }: Selection): string {
  const text = JSON.stringify([service, sorted(include), sorted(exclude), layout, directory]);
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}

function sorted(globs: readonly string[]): string[] {
  return [...new Set(globs)].sort();
}

/** A line of a done list, with its line feed: `ACCESSION<TAB>SELECTION<TAB>TIME<TAB>FILES`. */
export function doneLine({ accession, selection, time, files }: DoneEntry): string {
  return `${accession}\t${selection}\t${new Date(time).toISOString().replace(/\.\d+/, '')}\t${files}\n`;
}

const LINE =
  /^([0-9]{10}-[0-9]{2}-[0-9]{6})\t([0-9a-f]{16})\t([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,9})?(?:Z|[+-][0-9]{2}:[0-9]{2}))\t([0-9]{1,9})$/;

/** Reads a line without its line feed; undefined for one that is torn, garbage, or of another version. */
export function parseDoneLine(text: string): DoneEntry | undefined {
  const [, accession = '', selection = '', when = '', files] = LINE.exec(text) ?? [];
  const time = Date.parse(when);
  if (Number.isNaN(time)) return undefined;
  return { accession: accession as AccessionNumber, selection, time, files: Number(files) };
}
