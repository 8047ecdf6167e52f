// Creates the mirrored archive: DIRECTORY/ACCESSION/FILE, which `filings serve` and nginx both serve.
import { link, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

export const FILES_EACH = 100;
/**
 * Number of different contents. Each has many hard links, so that 200,000 files take only the space of their
 * directories.
 */
const CONTENTS = 64;

const accession = (filing) => `0001234567-24-${String(filing + 1).padStart(6, '0')}`;
const fileName = (file) => `f${String(file).padStart(3, '0')}.htm`;
const contentOf = (filing, file) => (filing * 7 + file) % CONTENTS;
/** A content of 2,500 to 4,024 bytes, which is one block of a disk. */
const content = (which) => `content ${which} `.repeat(400).slice(0, 2500 + ((which * 131) % 1525));

/** Fills `folder` with `files` files, FILES_EACH per filing. Returns the accession numbers and a check of a mirror. */
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
    /** Returns the number of files of a mirror that are missing or have other bytes. */
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
