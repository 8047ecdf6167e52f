import { describe, expect, test } from 'vitest';
import { parseLayout } from '../../src/batch/layout.ts';
import { type Order, readOrder } from '../../src/commands/download/order.ts';
import { targetsOf } from '../../src/commands/download/targets.ts';
import { segmentsOf, typedPath } from '../../src/paths.ts';
import { parseAccession } from '../../src/service/accession.ts';
import { locateConfig } from '../../src/settings/config-file.ts';
import { worldOf } from '../settings-world.ts';

const WINDOWS = { platform: 'win32', cwd: 'C:\\work' };
const UNIX = { platform: 'linux', cwd: '/work' };

test.each([
  ['a name', 'a.htm', 'C:\\work\\a.htm', '/work/a.htm'],
  ['a path with slashes', 'b/a.htm', 'C:\\work\\b\\a.htm', '/work/b/a.htm'],
  ['an absolute path of Windows', 'D:\\a.htm', 'D:\\a.htm', '/work/D:\\a.htm'],
  ['the null device', 'NUL', '\\\\.\\NUL', '/work/NUL'],
  ['the null device in lower case', 'nul', '\\\\.\\NUL', '/work/nul'],
  ['the null device with a colon', 'nul:', '\\\\.\\NUL', '/work/nul:'],
  ['the null device by its path', '\\\\.\\NUL', '\\\\.\\NUL', '/work/\\\\.\\NUL'],
  ['a file whose name begins like the null device', 'null', 'C:\\work\\null', '/work/null'],
])('resolves %s as each platform means it', (_, path, onWindows, onUnix) => {
  expect([typedPath(path, WINDOWS), typedPath(path, UNIX)]).toEqual([onWindows, onUnix]);
});

test('splits a path at backslashes on Windows alone', () => {
  expect(segmentsOf('C:\\a/b\\c', 'win32')).toEqual(['C:', 'a', 'b', 'c']);
  expect(segmentsOf('/a/b\\c', 'linux')).toEqual(['', 'a', 'b\\c']);
});

describe('the place of a file', () => {
  const A = parseAccession('0001234567-24-000001');
  const options = { ifExists: undefined, sha256: undefined, checksums: false, dryRun: false };
  const targetOn = (place: typeof WINDOWS, directory: string, output?: string) => {
    const layout = parseLayout('{accession_no}/{file_name}', place.platform);
    const order = { output, directory, layout, options } as unknown as Order;
    return targetsOf(order, place)({ path: `${A}/a.htm`, accession: A });
  };

  test.each([
    ['the working directory', '.', `C:\\work\\${A}\\a.htm`, `${A}\\a.htm`],
    ['a directory below it', 'x/y', `C:\\work\\x\\y\\${A}\\a.htm`, `x\\y\\${A}\\a.htm`],
    ['another drive', 'D:\\x', `D:\\x\\${A}\\a.htm`, `D:\\x\\${A}\\a.htm`],
  ])('is written on Windows with backslashes: %s', (_, directory, path, displayPath) => {
    expect(targetOn(WINDOWS, directory)).toMatchObject({ path, displayPath });
  });

  test('stays the same elsewhere, where a backslash is a letter', () => {
    const path = `/work/.\\x/${A}/a.htm`;
    expect(targetOn(UNIX, '.\\x')).toMatchObject({ path, displayPath: `.\\x/${A}/a.htm` });
  });
});

describe('--output', () => {
  const options = { all: false, include: [], exclude: [], query: [] };
  const orderOf = (output: string, platform: string) =>
    readOrder(['0001234567-24-000001', 'a.htm'], { ...options, output } as never, { platform });

  test.each(['a?.htm', 'C:\\x\\a|b', 'a.htm:stream', 'a.htm::$DATA', 'con', 'x\\aux.htm', 'a.'])(
    'cannot be on Windows %j, which is no name of a file there',
    (output) => {
      const refused = expect.objectContaining({ code: 'usage', message: expect.stringContaining('Windows does not') });
      expect(() => orderOf(output, 'win32')).toThrow(refused);
      expect(orderOf(output, 'linux').output).toBe(output);
    },
  );

  test.each(['-', 'NUL', 'a.htm', '..\\a.htm', 'D:\\x\\a.htm', 'x/a.htm'])('can be on Windows %j', (output) => {
    expect(orderOf(output, 'win32').output).toBe(output);
  });

  test('is a directory on Windows if it ends in a backslash', () => {
    expect(() => orderOf('x\\', 'win32')).toThrow('--output must be a file');
    expect(orderOf('x\\', 'linux').output).toBe('x\\');
  });
});

describe('the config file', () => {
  const APPDATA = 'C:\\Users\\me\\AppData\\Roaming';
  test.each([
    ['in APPDATA', { APPDATA, HOME: '/home/me', XDG_CONFIG_HOME: 'C:\\xdg' }, `${APPDATA}\\filings\\config.json`],
    ['below USERPROFILE without it', { USERPROFILE: 'C:\\Users\\me' }, `${APPDATA}\\filings\\config.json`],
    ['nowhere without both', { HOME: '/home/me' }, undefined],
  ])('is on Windows %s', (_, env, path) => {
    expect(locateConfig({}, worldOf({ ...WINDOWS, env })).path).toBe(path);
  });

  test.each([
    ['linux', '/dev/null'],
    ['win32', 'NUL'],
  ])('is none if the null device is named on %s', (platform, config) => {
    const world = worldOf({ ...(platform === 'win32' ? WINDOWS : UNIX), env: { HOME: '/home/me', APPDATA } });
    expect(locateConfig({ config }, world)).toMatchObject({ path: undefined, isNamed: true });
  });

  test.each([
    ['win32', '~/keys/a', 'C:\\Users\\me\\keys\\a'],
    ['win32', 'keys/a', 'C:\\config\\keys\\a'],
    ['win32', 'D:/keys/a', 'D:\\keys\\a'],
    ['linux', '~/keys/a', '/home/me/keys/a'],
    ['linux', '~other/a', '/config/~other/a'],
  ])('names on %s by %s the file %s', (platform, path, expected) => {
    const env = { USERPROFILE: 'C:\\Users\\me', HOME: '/home/me' };
    const cwd = platform === 'win32' ? 'C:\\config' : '/config';
    expect(typedPath(path, { env, platform, cwd })).toBe(expected);
  });

  test('does not begin with ~ if the home directory is not known', () => {
    expect(() => typedPath('~/a', { env: {}, platform: 'linux', cwd: '/' })).toThrow(
      expect.objectContaining({ code: 'usage', hint: expect.stringContaining('HOME') }),
    );
  });
});
