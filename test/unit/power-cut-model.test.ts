import { describe, expect, test } from 'vitest';
import { ALL, crashTree, dice, type Fate, inAnyOrder, inOrder, NOTHING } from '../prove/power-cut/crash-state.ts';
import { possibleEnds } from '../prove/power-cut/possible-ends.ts';
import { Replay } from '../prove/power-cut/replay.ts';
import { type Call, readCalls, textsOf } from '../prove/power-cut/strace-log.ts';

const hex = (text: string) =>
  `"${[...Buffer.from(text)].map((byte) => `\\x${byte.toString(16).padStart(2, '0')}`).join('')}"`;
const open = (name: string, fd: number, flags = 'O_RDWR|O_CREAT|O_EXCL') =>
  `1 openat(AT_FDCWD, ${hex(`/disk/${name}`)}, ${flags}, 0600) = ${fd}`;
const write = (fd: number, text: string, at: number) =>
  `1 pwrite64(${fd}, ${hex(text)}, ${text.length}, ${at}) = ${text.length}`;
const link = (from: string, to: string) => `1 link(${hex(`/disk/${from}`)}, ${hex(`/disk/${to}`)}) = 0`;
const unlink = (name: string) => `1 unlink(${hex(`/disk/${name}`)}) = 0`;
/** The second thread of the process. */
const THREAD = '1 clone3({flags=CLONE_VM|CLONE_FILES|CLONE_THREAD, stack=0x1}, 88) = 2';
const FOLDER = open('', 3, 'O_RDONLY|O_DIRECTORY');

function replayed(lines: readonly string[], old: Readonly<Record<string, string>> = {}): Replay {
  const replay = new Replay('/disk', new Map(Object.entries(old).map(([name, text]) => [name, Buffer.from(text)])));
  replay.run(readCalls(lines.join('\n')), () => {});
  return replay;
}

function states(replay: Replay, fate: Fate): Record<string, string> {
  return Object.fromEntries([...crashTree(replay.root, fate)].map(([name, bytes]) => [name, bytes.toString()]));
}

/** All that many throws of the dice give. */
function every(replay: Replay, fateOf: (roll: ReturnType<typeof dice>) => Fate): string[] {
  const found = Array.from({ length: 300 }, (_, seed) => JSON.stringify(states(replay, fateOf(dice(seed)))));
  return [...new Set(found)].sort();
}

describe('a log of strace', () => {
  test('calls that overlap are joined, and stand where they ended', () => {
    const calls = readCalls(
      [
        '7 fsync(3 <unfinished ...>',
        `8 write(4, ${hex('ab')}, 2) = 2`,
        '7 <... fsync resumed>) = 0',
        '8 link("\\x61" <unfinished ...>',
      ].join('\n'),
    );
    expect(calls.map(({ name, result, begin, end }) => [name, result, begin, end])).toEqual([
      ['write', 2, 1, 1],
      ['fsync', 0, 0, 2],
      ['link', undefined, 3, Number.POSITIVE_INFINITY],
    ]);
    expect(textsOf(calls[0] as Call)).toEqual([Buffer.from('ab')]);
  });
});

test('a call in which its process was killed has had its effect, or has not', () => {
  const killed = readCalls(
    [FOLDER, open('a', 4), `1 link(${hex('/disk/a')}, ${hex('/disk/b')} <unfinished ...>`].join('\n'),
  );
  const ends = [...possibleEnds('/disk', new Map(), [killed])].map((tree) => [...tree.keys()]);
  expect(ends).toEqual([['a'], ['a', 'b']]);
});

describe('a disk that promises what POSIX does', () => {
  test('a flush of the file keeps its bytes, not its name; one of the directory its name, not its bytes', () => {
    const bytes = replayed([open('a', 4), write(4, 'text', 0), '1 fsync(4) = 0']);
    expect(every(bytes, inAnyOrder)).toEqual(['{"a":"text"}', '{}']);
    const name = replayed([FOLDER, open('a', 4), write(4, 'text', 0), '1 fsync(3) = 0']);
    expect(every(name, inOrder)).toEqual(['{"a":""}', '{"a":"text"}']);
  });

  test('a flush covers what was done before it began, and counts when it has ended', () => {
    const begun = [THREAD, open('a', 4), '2 fsync(3 <unfinished ...>', open('b', 5)];
    const replay = replayed([FOLDER, ...begun, '2 <... fsync resumed>) = 0']);
    expect(states(replay, NOTHING)).toEqual({ a: '' });
    expect(states(replayed([FOLDER, ...begun]), NOTHING)).toEqual({});
    expect(states(replayed([FOLDER, open('a', 4), '1 fsync(3) = -1 EIO']), NOTHING)).toEqual({});
  });

  test('in order, a name that went is only gone when the one before it came; in any order, both may be', () => {
    const replay = replayed([FOLDER, open('.part', 4), '1 fsync(3) = 0', link('.part', 'a'), unlink('.part')]);
    expect(every(replay, inOrder)).toEqual(['{".part":"","a":""}', '{".part":""}', '{"a":""}']);
    expect(every(replay, inAnyOrder)).toEqual(['{".part":"","a":""}', '{".part":""}', '{"a":""}', '{}']);
  });

  test('in any order, a size may come without its bytes, and bytes without a size', () => {
    const replay = replayed([open('a', 4, 'O_RDWR'), write(4, 'bb', 2)], { a: 'aa' });
    expect(every(replay, inAnyOrder)).toEqual(
      ['aa', 'aabb', 'aa\0\0', 'aa\u0001\u0001'].map((a) => JSON.stringify({ a })).sort(),
    );
  });

  test('a directory without its entry is not there, whatever is in it', () => {
    const made = [`1 mkdir(${hex('/disk/d')}, 0777) = 0`, open('d', 4, 'O_RDONLY|O_DIRECTORY')];
    const file = [`1 openat(AT_FDCWD, ${hex('/proc/self/fd/4/a')}, O_RDWR|O_CREAT, 0600) = 5`, '1 fsync(4) = 0'];
    expect(every(replayed([...made, ...file]), inAnyOrder)).toEqual(['{"d/a":""}', '{}']);
    expect(states(replayed([FOLDER, ...made, ...file, '1 fsync(3) = 0']), NOTHING)).toEqual({ 'd/a': '' });
  });

  test('appends are behind each other, and what goes to standard output is told at once', () => {
    const line = (text: string) => `1 write(4, ${hex(text)}, ${text.length}) = ${text.length}`;
    const said = `1 write(1, ${hex('said')}, 4 <unfinished ...>`;
    const replay = replayed([open('log', 4, 'O_RDWR|O_CREAT|O_APPEND'), line('one\n'), line('two\n'), said]);
    expect(states(replay, ALL)).toEqual({ log: 'one\ntwo\n' });
    expect(replay.told).toBe('said');
  });
});
