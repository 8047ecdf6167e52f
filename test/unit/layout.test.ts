import { describe, expect, test } from 'vitest';
import { defaultLayout, parseLayout } from '../../src/batch/layout.ts';
import { FilingsError } from '../../src/errors.ts';

const asked = '0001234567-24-000001';

describe('parseLayout', () => {
  test.each<[template: string, path: string]>([
    ['{file_name}', 'a b.htm'],
    ['{accession_no}/{file_name}', `${asked}/a b.htm`],
    ['x {accession_no}/y/z-{file_name}.bak', `x ${asked}/y/z-a b.htm.bak`],
    ['{file_name}/{accession_no}', `a b.htm/${asked}`],
    ['{file_name}{file_name}', 'a b.htma b.htm'],
    ['100% $& #/日本-{file_name}', '100% $& #/日本-a b.htm'],
  ])('%s', (template, path) => {
    const layout = parseLayout(template);
    expect([layout.template, layout.place(asked, 'a b.htm')]).toEqual([template, { path }]);
  });

  test.each<[template: string, why: string | RegExp]>([
    ['', 'it is empty'],
    ['a', /^\{file_name\} is missing/],
    ['{accession_no}', /^\{file_name\} is missing/],
    ['{accession_no}/', /^\{file_name\} is missing/],
    ['{FILE_NAME}', 'only {accession_no} and {file_name} may stand in braces'],
    ['{file_name', 'only {accession_no} and {file_name} may stand in braces'],
    ['{file_name}}', 'only {accession_no} and {file_name} may stand in braces'],
    ['{{file_name}}', 'only {accession_no} and {file_name} may stand in braces'],
    ['{year}/{file_name}', 'only {accession_no} and {file_name} may stand in braces'],
    ['{file_name}{}', 'only {accession_no} and {file_name} may stand in braces'],
    ['/{file_name}', 'it is an absolute path'],
    ['//{file_name}', 'it is an absolute path'],
    ['\\{file_name}', 'it is an absolute path'],
    ['C:{file_name}', 'it is an absolute path'],
    ['../{file_name}', 'it begins with a dot or a dash'],
    ['a/../{file_name}', 'it begins with a dot or a dash'],
    ['./{file_name}', 'it begins with a dot or a dash'],
    ['{file_name}/..', 'it begins with a dot or a dash'],
    ['a//{file_name}', 'two slashes stand side by side'],
    ['{file_name}/', /^it ends with a slash/],
    ['a\\{file_name}', 'it has a path separator in it'],
    ['ab:{file_name}', 'it has a colon in it, which is a drive or a hidden stream on Windows'],
    ['a\n/{file_name}', 'it has control or invisible characters in it'],
    ['a\0/{file_name}', 'it has control or invisible characters in it'],
    ['\u202e/{file_name}', 'it has control or invisible characters in it'],
    ['.hidden/{file_name}', 'it begins with a dot or a dash'],
    ['.{file_name}', 'it begins with a dot or a dash'],
    ['-/{file_name}', 'it begins with a dot or a dash'],
    [' a/{file_name}', 'it begins or ends with a space, or ends with a dot'],
    ['a /{file_name}', 'it begins or ends with a space, or ends with a dot'],
    ['{file_name}.', 'it begins or ends with a space, or ends with a dot'],
    ['con/{file_name}', 'it is the name of a device on Windows'],
    [`${'x'.repeat(192)}/{file_name}`, 'it is longer than 191 bytes'],
    [`${'x/'.repeat(500)}{file_name}`, 'it is longer than 1000 characters'],
    ['\ud800/{file_name}', 'it has control or invisible characters in it'],
  ])('refuses %j', (template, why) => {
    const { code, message, hint } = refusal(template);
    const said = message.replace(/^--layout '.*?': (?:its part '.*?': )?(?=it|only|two|\{)/s, '');
    if (typeof why === 'string') expect(said).toBe(why);
    else expect(said).toMatch(why);
    expect([code, hint]).toEqual(['usage', 'such as {accession_no}/{file_name} or {accession_no}-{file_name}']);
  });

  test('says which part is wrong', () => {
    expect(refusal('a/con/{file_name}').message).toBe(
      "--layout 'a/con/{file_name}': its part 'con': it is the name of a device on Windows",
    );
  });

  function refusal(template: string): FilingsError {
    try {
      parseLayout(template);
    } catch (error) {
      if (error instanceof FilingsError) return error;
    }
    return expect.unreachable('it is taken');
  }

  test('the default is by filing with an input, and flat without', () => {
    expect(defaultLayout(true).place(asked, 'a')).toEqual({ path: `${asked}/a` });
    expect(defaultLayout(false).place(asked, 'a')).toEqual({ path: 'a' });
  });
});

describe('place', () => {
  test.each<[template: string, name: string, reason: string]>([
    ['{file_name}', '../a', 'it has a path separator in it'],
    ['x{file_name}', '../a', 'it has a path separator in it'],
    ['x{file_name}', '.a', 'it begins with a dot or a dash'],
    ['x{file_name}x', 'a ', 'it begins or ends with a space, or ends with a dot'],
    ['x{file_name}', '', 'it is empty'],
    ['co{file_name}', 'n', "as 'con' of the layout, it is the name of a device on Windows"],
    [
      '{accession_no}-{file_name}',
      'x'.repeat(171),
      `as '${asked}-${'x'.repeat(171)}' of the layout, it is longer than 191 bytes`,
    ],
    ['co{file_name}/{file_name}', 'n', "as 'con' of the layout, it is the name of a device on Windows"],
  ])('%s refuses %j', (template, name, reason) => {
    expect(parseLayout(template).place(asked, name).fault?.reason).toBe(reason);
  });

  test('a name that looks like a placeholder is a name', () => {
    expect(parseLayout('{file_name}-{accession_no}').place(asked, '{accession_no}')).toEqual({
      path: `{accession_no}-${asked}`,
    });
    expect(parseLayout('{accession_no}/{file_name}').place(asked, '$&')).toEqual({ path: `${asked}/$&` });
  });
});
