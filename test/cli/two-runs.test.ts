import { describe, expect } from 'vitest';
import { sendFile } from '../servers/answers.ts';
import { scripted } from '../servers/scripted.ts';
import { content } from '../service/transfer-fixture.ts';
import { ACCESSION, proving, serviceAt, test } from './program.ts';

const FILES: Readonly<Record<string, Buffer>> = {
  'large.xml': content(1_500_000),
  'other.txt': content(300),
  'small.htm': content(20_000),
};
const NAMES = Object.keys(FILES);

// Not the option `repeats`, for which Vitest adds listeners to one signal until Node warns.
const ROUNDS = Array.from({ length: proving ? 20 : 1 }, (_, at) => at + 1);

describe.each(ROUNDS)('in round %i', () => {
  test.for`
    ifExists       | names            | statuses
    ${'skip'}      | ${NAMES}         | ${[0, 0]}
    ${'overwrite'} | ${NAMES}         | ${[0, 0]}
    ${'error'}     | ${['large.xml']} | ${[0, 8, 8]}
  `(
    'runs at once with --if-exists $ifExists end with $statuses and leave complete files',
    async ({ ifExists, names, statuses }, { place }) => {
      const { url } = await scripted((socket, request) => {
        const name = new URL(request.path, 'http://h').searchParams.get('file_name') ?? '';
        sendFile(socket, request, FILES[name] ?? Buffer.alloc(0), `"${name}"`);
      });
      const args = ['download', ACCESSION, ...names, '--if-exists', ifExists];
      const runs = await Promise.all(statuses.map(() => place.filings(args, serviceAt(url))));
      expect(runs.map(({ exitCode }) => exitCode).sort()).toEqual(statuses);
      expect(await place.names()).toEqual(names);
      for (const name of names) expect((await place.read(name)).equals(FILES[name] as Buffer)).toBe(true);
    },
  );
});
