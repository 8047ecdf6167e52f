// The archive that is mirrored: DIRECTORY/ACCESSION/FILE, as `filings serve` and nginx both read it.
import { link, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

export const FILES_EACH = 100;
/** So many contents, each under many names: an archive of 200,000 files costs no more than its directories. */
const CONTENTS = 64;

const accession = (filing) => `0001234567-24-${String(filing + 1).padStart(6, '0')}`;
const fileName = (file) => `f${String(file).padStart(3, '0')}.htm`;
const contentOf = (filing, file) => (filing * 7 + file) % CONTENTS;
/** 2,500 to 4,024 bytes: one block of a disk. */
const content = (which) => `content ${which} `.repeat(400).slice(0, 2500 + ((which * 131) % 1525));

/** Fills `folder` with `files` files, FILES_EACH a filing. Gives the accession numbers, and a check of a mirror of it. */
export async function makeArchive(folder, files) {
  const filings = Math.ceil(files / FILES_EACH);
  const contents = join(folder, 'contents');
  const root = join(folder, 'archive');
  await mkdir(contents, { recursive: true });
  for (let which = 0; which < CONTENTS; which += 1) await writeFile(join(contents, String(which)), content(which));
  for (const [filing, file] of each(filings)) {
    if (file === 0) await mkdir(join(root, accession(filing)), { recursive: true });
    await link(join(contents, String(contentOf(filing, file))), join(root, accession(filing), fileName(file)));
  }
  return {
    root,
    files: filings * FILES_EACH,
    accessions: Array.from({ length: filings }, (_, filing) => accession(filing)),
    /** How many files of a mirror are missing, or have other bytes. */
    async wrongIn(mirror) {
      let wrong = 0;
      for (const [filing, file] of each(filings)) {
        const text = await readFile(join(mirror, accession(filing), fileName(file)), 'utf8').catch(() => undefined);
        if (text !== content(contentOf(filing, file))) wrong += 1;
      }
      return wrong;
    },
  };
}

function* each(filings) {
  for (let filing = 0; filing < filings; filing += 1) {
    for (let file = 0; file < FILES_EACH; file += 1) yield [filing, file];
  }
}
