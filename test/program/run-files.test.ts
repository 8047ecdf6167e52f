import { execFileSync } from 'node:child_process';
import { link, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { accession, startArchive } from '../servers/archive.ts';
import { batchPlace } from './batch.ts';

const A = accession(1);
const FILES = { 'run.jsonl': 'a file', done: 'a file', 'failed.txt': 'a file', 'in.txt': 'a file', 'c.json': '{}' };

async function setUp() {
  const archive = await startArchive({ [A]: { ...FILES, 'x.htm': 'x' } });
  const place = await batchPlace(archive.env);
  await writeFile(join(place.path, 'in.txt'), `${A}\n`);
  await writeFile(join(place.path, 'c.json'), '{}', { mode: 0o600 });
  await mkdir(join(place.path, 'out'));
  await symlink('.', join(place.path, 'here'));
  return { archive, place };
}

describe('a file that the command line names is refused, and nothing is asked: 2', () => {
  it.each([
    [[A, 'x.htm', '-o', 'x', '--failed', 'x']],
    [[A, 'x.htm', '-o', 'x', '--report', './x']],
    [[A, 'x.htm', '-o', 'here/x', '--report', 'x']],
    [[A, 'x.htm', '-o', 'hard', '--report', 'report']],
    [[A, 'x.htm', '-o', 'fifo', '--report', 'fifo']],
    [[A, 'x.htm', '-o', 'c.json', '--config', 'c.json']],
    [[A, 'x.htm', '--report', 'x.htm']],
    [[A, 'x.htm', '-d', 'here', '--report', 'x.htm']],
    [[A, 'x.htm', '-d', 'out', '--failed', 'out/x.htm']],
    [[A, 'x.htm', 'done', '--report', 'done']],
    [[A, 'c.json', 'x.htm', '--config', 'c.json']],
    [[A, 'x.htm', '-o', '-', '--report', '/dev/stdout']],
    [[A, 'x.htm', '-o', '/proc/self/fd/1', '--report', '-']],
    [['-i', 'in.txt', '--all', '--report', 'report', '--failed', 'hard']],
    [['-i', 'in.txt', '--all', '--report', 'fifo', '--done', 'fifo']],
    [['-i', 'in.txt', '--all', '--failed', 'fifo']],
    [['-i', 'in.txt', '--all', '--failed', '/dev/null']],
    [['-i', 'in.txt', '--all', '--done', 'c.json', '--config', 'c.json']],
  ])('%j', async (args) => {
    const { archive, place } = await setUp();
    await writeFile(join(place.path, 'report'), '');
    await link(join(place.path, 'report'), join(place.path, 'hard'));
    execFileSync('mkfifo', [join(place.path, 'fifo')]);
    const before = (await place.names()).sort();
    const { exitCode, stderr } = await place.filings(['download', ...args], archive.env);
    expect(exitCode, stderr).toBe(2);
    expect(archive.asked()).toEqual([]);
    expect((await place.names()).sort()).toEqual(before);
  });
});

describe('a file of a listing or the input is refused alone: 9', () => {
  it.each([[['-d', '.']], [['-d', 'here']], [['-d', '.', '--if-exists', 'overwrite']]])('%j', async (args) => {
    const { archive, place } = await setUp();
    const ledgers = ['--report', 'run.jsonl', '--done', 'done', '--failed', 'failed.txt', '--config', 'c.json'];
    const line = ['download', '-i', 'in.txt', '--all', '--layout', '{file_name}', ...ledgers, ...args, '-j', '1'];
    const ended = await place.filings(line, archive.env);
    expect(ended.exitCode, ended.stderr).toBe(3);
    const lines = (await place.read('run.jsonl')).toString().trim().split('\n');
    const told = lines.map((each) => JSON.parse(each)).filter(({ result }) => result);
    const failed = told.filter(({ result }) => result === 'failed');
    expect(failed.map(({ file_name, error }) => `${file_name} ${error.exit_code}`).sort()).toEqual(
      Object.keys(FILES)
        .map((name) => `${name} 9`)
        .sort(),
    );
    expect(told.filter(({ result }) => result === 'downloaded').map(({ file_name }) => file_name)).toEqual(['x.htm']);
    expect(await readFile(join(place.path, 'in.txt'), 'utf8')).toBe(`${A}\n`);
    expect((await place.read('failed.txt')).toString().trim().split('\n')).toHaveLength(5);
  });
});

it('a null device may be named twice, and a report may go to a FIFO', async () => {
  const { archive, place } = await setUp();
  const twice = ['download', A, 'x.htm', '-o', '/dev/null', '--report', '/dev/null'];
  expect((await place.filings(twice, archive.env)).exitCode).toBe(0);
});
