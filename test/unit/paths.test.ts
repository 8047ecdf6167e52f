import { describe, expect, test } from 'vitest';
import { parseLayout } from '../../src/batch/layout.ts';
import { type DownloadArgs, parseArguments } from '../../src/commands/download/arguments.ts';
import { createTargetFinder } from '../../src/commands/download/targets.ts';
import { resolveUserPath, splitPath } from '../../src/paths.ts';
import { parseAccession } from '../../src/service/accession.ts';
import { locateConfig } from '../../src/settings/config-file.ts';
import { resolveFilePath } from '../../src/stdio/output-path.ts';
import { worldOf } from '../settings-world.ts';

const HOMES = { USERPROFILE: 'C:\\Users\\me', HOME: '/home/me' };
const WINDOWS = { platform: 'win32', cwd: 'C:\\work', env: HOMES };
const UNIX = { platform: 'linux', cwd: '/work', env: HOMES };

test.each`
  path            | onWindows                 | onUnix
  ${'a.htm'}      | ${'C:\\work\\a.htm'}      | ${'/work/a.htm'}
  ${'~/a.htm'}    | ${'C:\\Users\\me\\a.htm'} | ${'/home/me/a.htm'}
  ${'~other/a'}   | ${'C:\\work\\~other\\a'}  | ${'/work/~other/a'}
  ${'b/a.htm'}    | ${'C:\\work\\b\\a.htm'}   | ${'/work/b/a.htm'}
  ${'D:\\a.htm'}  | ${'D:\\a.htm'}            | ${'/work/D:\\a.htm'}
  ${'NUL'}        | ${'\\\\.\\NUL'}           | ${'/work/NUL'}
  ${'nul'}        | ${'\\\\.\\NUL'}           | ${'/work/nul'}
  ${'nul:'}       | ${'\\\\.\\NUL'}           | ${'/work/nul:'}
  ${'\\\\.\\NUL'} | ${'\\\\.\\NUL'}           | ${'/work/\\\\.\\NUL'}
  ${'null'}       | ${'C:\\work\\null'}       | ${'/work/null'}
`('the path $path is $onWindows on Windows and $onUnix elsewhere', ({ path, onWindows, onUnix }) => {
  expect([resolveUserPath(path, WINDOWS), resolveUserPath(path, UNIX)]).toEqual([onWindows, onUnix]);
});

test('splits a path at backslashes on Windows alone', () => {
  expect(splitPath('C:\\a/b\\c', 'win32')).toEqual(['C:', 'a', 'b', 'c']);
  expect(splitPath('/a/b\\c', 'linux')).toEqual(['', 'a', 'b\\c']);
});

describe('the place of a file', () => {
  const A = parseAccession('0001234567-24-000001');
  const options = { ifExists: undefined, sha256: undefined, checksums: false, dryRun: false };
  const targetOn = (place: typeof WINDOWS, directory: string) => {
    const layout = parseLayout('{accession_no}/{file_name}', place.platform);
    const root = resolveUserPath(directory, place);
    const args = { layout, root, paths: {}, options: { ...options, directory } } as unknown as DownloadArgs;
    return createTargetFinder(args, place.platform)({ path: `${A}/a.htm`, accession: A });
  };

  test.each`
    directory  | path                             | displayPath
    ${'.'}     | ${`C:\\work\\${A}\\a.htm`}       | ${`${A}\\a.htm`}
    ${'x/y'}   | ${`C:\\work\\x\\y\\${A}\\a.htm`} | ${`x\\y\\${A}\\a.htm`}
    ${'D:\\x'} | ${`D:\\x\\${A}\\a.htm`}          | ${`D:\\x\\${A}\\a.htm`}
  `('in $directory is written on Windows with backslashes: $displayPath', ({ directory, path, displayPath }) => {
    expect(targetOn(WINDOWS, directory)).toMatchObject({ path, displayPath });
  });

  test('stays the same elsewhere, where a backslash is a letter', () => {
    const path = `/work/.\\x/${A}/a.htm`;
    expect(targetOn(UNIX, '.\\x')).toMatchObject({ path, displayPath: `.\\x/${A}/a.htm` });
  });
});

describe('--output', () => {
  const options = { all: false, include: [], exclude: [], query: [] };
  const parseOutput = (output: string, platform: string) =>
    parseArguments(['0001234567-24-000001', 'a.htm'], { ...options, output } as never, { cwd: '/', platform, env: {} });

  test.each(['a?.htm', 'C:\\x\\a|b', 'a.htm:stream', 'a.htm::$DATA', 'con', 'x\\aux.htm', 'a.'])(
    'cannot be on Windows %j, which is no name of a file there',
    (output) => {
      const refused = expect.objectContaining({ code: 'usage', message: expect.stringContaining('Windows does not') });
      expect(() => parseOutput(output, 'win32')).toThrow(refused);
      expect(parseOutput(output, 'linux').options.output).toBe(output);
    },
  );

  test.each(['-', 'NUL', 'a.htm', '..\\a.htm', 'D:\\x\\a.htm', 'x/a.htm'])('can be on Windows %j', (output) => {
    expect(parseOutput(output, 'win32').options.output).toBe(output);
  });

  test('is a directory on Windows if it ends in a backslash', async () => {
    const refuse = (place: typeof WINDOWS) => resolveFilePath('--output', 'x\\', { ...place, env: {} });
    await expect(refuse(WINDOWS)).rejects.toThrow('--output must be a file');
    await refuse(UNIX);
  });
});

describe('the config file', () => {
  const APPDATA = 'C:\\Users\\me\\AppData\\Roaming';
  test.each`
    where                             | env                                                          | path
    ${'in APPDATA'}                   | ${{ APPDATA, HOME: '/home/me', XDG_CONFIG_HOME: 'C:\\xdg' }} | ${`${APPDATA}\\filings\\config.json`}
    ${'below USERPROFILE without it'} | ${{ USERPROFILE: 'C:\\Users\\me' }}                          | ${`${APPDATA}\\filings\\config.json`}
    ${'nowhere without both'}         | ${{ HOME: '/home/me' }}                                      | ${undefined}
  `('is on Windows $where', ({ env, path }) => {
    expect(locateConfig({}, worldOf({ ...WINDOWS, env })).path).toBe(path);
  });

  test('is below the working directory if HOME is relative', () => {
    expect(locateConfig({}, worldOf({ ...UNIX, env: { HOME: 'home' } })).path).toBe(
      `${UNIX.cwd}/home/.config/filings/config.json`,
    );
  });

  test('is the one that is named, and none if that is the null device', () => {
    const named = (place: typeof UNIX, config: string) => locateConfig({ config }, worldOf(place));
    expect(named(UNIX, '~/c.json')).toMatchObject({ path: '/home/me/c.json', isNamed: true });
    expect(named(UNIX, '/dev/null')).toMatchObject({ path: undefined, isNamed: true });
    expect(named(WINDOWS, 'NUL')).toMatchObject({ path: undefined, isNamed: true });
  });

  test('does not begin with ~ if the home directory is not known', () => {
    expect(() => resolveUserPath('~/a', { env: {}, platform: 'linux', cwd: '/' })).toThrow(
      expect.objectContaining({ code: 'usage', hint: expect.stringContaining('HOME') }),
    );
  });
});
