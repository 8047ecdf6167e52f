// The default of --if-exists: an existing file is skipped only where nothing but files of its filing are ever placed.
import { expect, test } from 'vitest';
import { parseArguments } from '../../src/commands/download/arguments.ts';
import { createTargetFinder } from '../../src/commands/download/targets.ts';
import { parseAccession } from '../../src/service/accession.ts';

const [A, B] = ['0001234567-24-000001', '0001234567-24-000002'];
const DIGITS = A.replaceAll('-', '');

test.each`
  directory      | layout                          | ifExists     | expected
  ${'mirror'}    | ${'{accession_no}/{file_name}'} | ${undefined} | ${'skip'}
  ${'mirror'}    | ${'{file_name}'}                | ${undefined} | ${'compare'}
  ${'mirror'}    | ${'{accession_no}-{file_name}'} | ${undefined} | ${'compare'}
  ${'mirror'}    | ${'{file_name}/{accession_no}'} | ${undefined} | ${'skip'}
  ${A}           | ${'{file_name}'}                | ${undefined} | ${'skip'}
  ${`x/${A}/y`}  | ${'{file_name}'}                | ${undefined} | ${'skip'}
  ${DIGITS}      | ${'{file_name}'}                | ${undefined} | ${'skip'}
  ${`${A}/${B}`} | ${'{file_name}'}                | ${undefined} | ${'compare'}
  ${`${B}/${A}`} | ${'{file_name}'}                | ${undefined} | ${'skip'}
  ${A}           | ${`${B}/{file_name}`}           | ${undefined} | ${'compare'}
  ${B}           | ${'{accession_no}/{file_name}'} | ${undefined} | ${'skip'}
  ${`${A}/../x`} | ${'{file_name}'}                | ${undefined} | ${'compare'}
  ${`not-${A}`}  | ${'{file_name}'}                | ${undefined} | ${'compare'}
  ${A}           | ${'{file_name}'}                | ${'compare'} | ${'compare'}
  ${'mirror'}    | ${'{file_name}'}                | ${'skip'}    | ${'skip'}
`('below $directory by $layout and $ifExists: $expected', ({ directory, layout, ifExists, expected }) => {
  const options = { all: true, include: [], exclude: [], query: [], directory, layout, ifExists };
  const args = parseArguments([A], options as never, { cwd: '/work', platform: 'linux', env: {} });
  const { path = '' } = args.layout.pathFor(A, 'a.htm');
  const find = createTargetFinder(args, 'linux');
  const target = find({ path, accession: parseAccession(A) });
  expect(target).toMatchObject({ path: expect.stringMatching(/^\/work\//), ifExists: expected });
});
