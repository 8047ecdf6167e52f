import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { workplace } from '../../cli/program.ts';
import { startArchive } from '../../servers/archive.ts';
import { tlsWith } from '../../servers/certificates.ts';
import { SERVICE_KEY, startProxy } from '../../servers/nginx.ts';
import { FILINGS, NUMBERS, treeOf } from './mirrored.ts';

test('docs/recipes/nginx: two runs at once fetch nothing twice from the service, which sees the proxy’s key alone', async () => {
  const service = await startArchive(FILINGS, { tls: tlsWith('own-name') });
  // The budget is for the service's sake: here it would only take time.
  const { env } = await startProxy(service.port, [['rate=570r/m', 'rate=100r/s']]);
  const place = await workplace();
  await writeFile(join(place.path, 'in'), NUMBERS.join('\n'));
  const line = ['download', '-i', 'in', '--all', '--quiet'];
  const runs = ['one', 'two'].map((directory) => place.start([...line, '-d', directory], env));
  for (const { ended } of runs) expect(await ended).toMatchObject({ exitCode: 0, stderr: '' });

  const paths = Object.entries(FILINGS).flatMap(([number, files]) =>
    Object.keys(files).map((name) => `${number}/${name}`),
  );
  for (const directory of ['one', 'two']) {
    expect(Object.keys(await treeOf(join(place.path, directory)))).toEqual(paths.sort());
  }
  expect([...service.asked()].sort()).toEqual([...NUMBERS, ...paths].sort());
  expect(new Set(service.requests.map(({ headers }) => headers.authorization))).toEqual(new Set([SERVICE_KEY]));
});
