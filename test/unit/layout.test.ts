import { expect, test } from 'vitest';
import { parseLayout } from '../../src/batch/layout.ts';

const accession = '0001234567-24-000001';
const BRACES = 'only {accession_no} and {file_name} may be in braces';

test.each`
  template                                  | path
  ${'{file_name}'}                          | ${'a b.htm'}
  ${'{accession_no}/{file_name}'}           | ${`${accession}/a b.htm`}
  ${'x {accession_no}/y/z-{file_name}.bak'} | ${`x ${accession}/y/z-a b.htm.bak`}
  ${'{file_name}{file_name}'}               | ${'a b.htma b.htm'}
  ${'100% $& #/日本-{file_name}'}           | ${'100% $& #/日本-a b.htm'}
`('the layout $template gives the path $path', ({ template, path }) => {
  const layout = parseLayout(template, 'linux');
  expect([layout.template, layout.pathFor(accession, 'a b.htm')]).toEqual([template, { path }]);
});

test.each`
  template                | why
  ${''}                   | ${'{file_name} is missing'}
  ${'{accession_no}'}     | ${'{file_name} is missing'}
  ${'{FILE_NAME}'}        | ${BRACES}
  ${'{year}/{file_name}'} | ${BRACES}
  ${'/{file_name}'}       | ${'it is an absolute path'}
  ${'C:{file_name}'}      | ${'it is an absolute path'}
  ${'a/../{file_name}'}   | ${"the segment '..' of the path is refused: it begins with a dot"}
  ${'a//{file_name}'}     | ${"the segment '' of the path is refused: it is empty"}
  ${'con/{file_name}'}    | ${"the segment 'con' of the path is refused: it is the name of a device on Windows"}
`('refuses the layout $template because $why', ({ template, why }) => {
  const error = { code: 'usage', message: expect.stringContaining(why), hint: expect.any(String) };
  expect(() => parseLayout(template, 'linux')).toThrow(expect.objectContaining(error));
});

test.each`
  template                        | name               | reason
  ${'{file_name}'}                | ${'../a'}          | ${/^it contains a path separator/}
  ${'x{file_name}'}               | ${'.a'}            | ${/^it begins with a dot/}
  ${'x{file_name}'}               | ${''}              | ${/^it is empty/}
  ${'co{file_name}/{file_name}'}  | ${'n'}             | ${/^the segment 'con' of the path is refused: it is the name of a device on Windows/}
  ${'{accession_no}-{file_name}'} | ${'x'.repeat(225)} | ${/^the segment '0001234567-24-000001-x{225}' of the path is refused: it is longer than \d+ bytes/}
`('the layout $template refuses the file name $name', ({ template, name, reason }) => {
  expect(parseLayout(template, 'linux').pathFor(accession, name).fault?.reason).toMatch(reason);
});

test('a placeholder inside a file name is not replaced', () => {
  const layout = parseLayout('{file_name}-{accession_no}', 'linux');
  expect(layout.pathFor(accession, '{accession_no}')).toEqual({ path: `{accession_no}-${accession}` });
});
