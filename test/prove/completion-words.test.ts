import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ACCESSION, until } from '../cli/program.ts';
import { isThere, offered, shellHome } from './shells.ts';

const ALGORITHMS = ['RS', 'PS', 'ES', 'HS'].flatMap((family) => [256, 384, 512].map((bits) => `${family}${bits}`));

const TABLE: readonly (readonly [line: string, words: readonly string[]])[] = [
  ['to', ['token']],
  ['token ver', ['verify']],
  ['--col', ['--color']],
  ['config get key', ['key-in', 'key-header']],
  ['config unset allow', ['allow-http']],
  ['config set jobs ', []],
  ['token sign --alg ', ALGORITHMS],
  ['token sign --sub ', []],
  ['token keygen --format j', ['jwk']],
  ['help co', ['config', 'completion']],
  ['help exit', ['exit-codes']],
  ['download --input lis', ['list.txt']],
  ['--api-key-file lis', ['list.txt']],
  ['serve f', ['folder/']],
  ['download -d ', ['folder/']],
  ['download -nd ', ['folder/']],
  ['download -q --jobs 3 --layout ', []],
  ['--profile download se', ['serve']],
  [`--sandbox download ${ACCESSION} pr`, ['primary.htm']],
  [`--sandbox download ${ACCESSION} primary.htm --jobs 3 nwl-20231231.xml nwl`, ['nwl-20231231.xsd']],
  [`list --sandbox ${ACCESSION} `, []],
];

describe.each((['bash', 'fish'] as const).filter(isThere))('%s offers', (shell) => {
  test.each(TABLE)('after %s', async (line, words) => {
    const place = await shellHome();
    await writeFile(join(place.path, 'list.txt'), '');
    await mkdir(join(place.path, 'folder'));
    let found: readonly string[] = [];
    await until(async () => {
      found = await offered(shell, line.split(' '), place);
      // A service that is not in time is given up on: on a slow machine one asks again.
      return found.length > 0 || words.length === 0;
    });
    // bash adds the slash as it shows a directory, and what is no file comes quoted.
    const shown = (name: string) => (shell === 'bash' ? name.replace(/\/$/, '').replace(' ', '\\ ') : name);
    expect([...found].sort()).toEqual(words.map(shown).sort());
  });
});
