import { accession, type Filings } from '../../servers/archive.ts';

/** The files of each filing. */
export const FILES = ['ex99.htm', 'form4.xml', 'primary.htm'];

/** Forty filings of three files. */
export const FILINGS: Filings = Object.fromEntries(
  Array.from({ length: 40 }, (_, at) => [
    accession(at),
    Object.fromEntries(FILES.map((name, n) => [name, Buffer.alloc(3000 * (n + 1) + at, `${at}/${name} `)])),
  ]),
);

export const NUMBERS = Object.keys(FILINGS);
