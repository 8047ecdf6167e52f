import { expect } from 'vitest';
import { sendFile } from '../servers/answers.ts';
import { scripted } from '../servers/scripted.ts';
import { content } from '../service/transfer-fixture.ts';
import { ACCESSION, test as base, proving, serviceAt, type Workplace } from './program.ts';

const FILES = { 'large.xml': content(1_500_000), 'other.txt': content(300), 'small.htm': content(20_000) };
const NAMES = Object.keys(FILES);

/** Downloads some files into one directory, so many times at once. Returns the exit statuses. */
const test = base.extend('together', async ({ place }: { place: Workplace }) => {
  const { url } = await scripted((socket, request) => {
    const name = new URL(request.path, 'http://h').searchParams.get('file_name') as keyof typeof FILES;
    sendFile(socket, request, FILES[name], `"${name}"`);
  });
  return async (times: number, names: readonly string[], ifExists: string) => {
    const args = ['download', ACCESSION, ...names, '--if-exists', ifExists];
    const runs = await Promise.all(Array.from({ length: times }, () => place.filings(args, serviceAt(url))));
    return runs.map(({ exitCode }) => exitCode).sort();
  };
});

async function expectComplete(place: Workplace, names: readonly string[]): Promise<void> {
  expect(await place.names()).toEqual(names);
  for (const name of names) expect((await place.read(name)).equals(FILES[name as keyof typeof FILES])).toBe(true);
}

const repeats = proving ? 19 : 0;

test.for(['skip', 'overwrite'])(
  'two runs with --if-exists %s leave complete files',
  { repeats },
  async (ifExists, { place, together }) => {
    expect(await together(2, NAMES, ifExists)).toEqual([0, 0]);
    await expectComplete(place, NAMES);
  },
);

test('one of three runs at once with --if-exists error succeeds, and the file is complete', async ({
  place,
  together,
}) => {
  expect(await together(3, ['large.xml'], 'error')).toEqual([0, 8, 8]);
  await expectComplete(place, ['large.xml']);
});
