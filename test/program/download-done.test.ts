import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { appendFile, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { head } from '../servers/answers.ts';
import { accession, type Instead, startArchive } from '../servers/archive.ts';
import { batchPlace } from './batch.ts';

const [A, B] = [accession(1), accession(2)];
const FILINGS = {
  [A]: { 'a.htm': 'a', 'ex1.htm': 'ex' },
  [B]: { 'b c.htm': 'b', 'ex.xml': 'ex', 'per%cent #1': 'x' },
};

async function setUp(instead?: Instead) {
  const archive = await startArchive(FILINGS, instead ? { instead } : {});
  return { archive, place: await batchPlace(archive.env) };
}

const DONE = ['--done', 'done'];

describe('--done', () => {
  it('a second run asks for nothing, touches no report line, and counts filings', async () => {
    const { archive, place } = await setUp();
    expect((await place.batch([A, B], ['--all', ...DONE])).exitCode).toBe(0);
    const before = archive.asked().length;
    expect((await place.read('done')).toString()).toMatch(
      new RegExp(
        `^(${A}|${B})\\t[0-9a-f]{16}\\t[0-9T:.Z-]+\\t[23]\\n(${A}|${B})\\t[0-9a-f]{16}\\t[0-9T:.Z-]+\\t[23]\\n$`,
      ),
    );
    const again = await place.batch([A, B, A], ['--all', ...DONE]);
    expect(again.exitCode).toBe(0);
    expect(archive.asked()).toHaveLength(before);
    expect(again.report.files).toHaveLength(5);
    expect(again.report.summaries.at(-1)).toMatchObject({ done: 2, downloaded: 0, skipped: 0, requests: 0 });
  });

  it.each([
    ['other globs', ['--include', 'ex*']],
    ['an exclusion', ['--all', '--exclude', 'ex*']],
    ['another directory', ['--all', '-d', 'other']],
    ['another layout', ['--all', '--layout', '{accession_no}-{file_name}']],
  ])('another selection is not done: %s', async (_what, selection) => {
    const { archive, place } = await setUp();
    await place.batch([A], ['--all', ...DONE]);
    const before = archive.asked().length;
    await place.batch([A], [...selection, ...DONE]);
    expect(archive.asked().length).toBeGreaterThan(before);
    const once = archive.asked().length;
    const { report } = await place.batch([A], [...selection, ...DONE]);
    expect(archive.asked()).toHaveLength(once);
    expect(report.summaries.at(-1)).toMatchObject({ done: 1 });
  });

  it('never holds a failed, an unmatched, an unlisted filing, nor one of named lines', async () => {
    const { place } = await setUp((socket, { accession: asked, name }) => {
      if (name !== 'ex1.htm' && asked !== accession(9)) return false;
      socket.write(head(404, { 'Content-Length': 0 }));
      return true;
    });
    const { exitCode } = await place.batch([A, accession(8), accession(9), `${B} ex.xml`], ['--all', ...DONE]);
    expect(exitCode).toBe(3);
    expect((await place.read('done')).toString()).toBe('');
  });

  it('is remembered by the sandbox, whatever its port', async () => {
    const { place } = await setUp();
    const line = ['--sandbox', 'download', '-i', '-', '--all', '-v', '--report', 'report', ...DONE];
    await place.filings(line, {}, { input: `${A}\n` });
    await place.filings(line, {}, { input: `${A}\n` });
    const { report } = await place.batch([], []);
    expect(report.summaries[1]).toMatchObject({ done: 1, requests: 0 });
  });

  it('torn and garbage lines are passed over, and what is appended begins a line', async () => {
    const { archive, place } = await setUp();
    await place.batch([A], ['--all', ...DONE]);
    const line = (await place.read('done')).toString().trimEnd();
    await writeFile(
      join(place.path, 'done'),
      Buffer.concat([
        Buffer.from([0xff, 0, 0x0a]),
        Buffer.from(`v2 ${A}\n${line}\n${line.replace(A, B).slice(0, 40)}`),
      ]),
    );
    const before = archive.asked().length;
    const { report } = await place.batch([A, B], ['--all', ...DONE]);
    expect(report.summaries.at(-1)).toMatchObject({ done: 1, downloaded: 3 });
    expect(archive.asked().slice(before)).not.toContain(A);
    await place.batch([A, B], ['--all', ...DONE]);
    expect(archive.asked()).toHaveLength(before + 4);
  });

  it('that is a directory is refused: exit 8, nothing asked', async () => {
    const { archive, place } = await setUp();
    await mkdir(join(place.path, 'done'));
    expect((await place.batch([A], ['--all', ...DONE])).exitCode).toBe(8);
    expect(archive.asked()).toEqual([]);
  });
});

describe('--checksums', () => {
  const sums = async (place: { path: string }, directory: string) => {
    const { stdout } = await promisify(execFile)('sha256sum', ['-c', 'SHA256SUMS'], {
      cwd: join(place.path, directory),
    });
    return stdout.split('\n').filter(Boolean).sort();
  };

  it('sha256sum -c agrees; a second run appends nothing', async () => {
    const { archive, place } = await setUp();
    expect((await place.batch([A, B], ['--all', '--checksums'])).exitCode).toBe(0);
    expect(await sums(place, A)).toEqual(['a.htm: OK', 'ex1.htm: OK']);
    expect(await sums(place, B)).toHaveLength(3);
    const before = await place.read(`${B}/SHA256SUMS`);
    await place.batch([A, B], ['--all', '--checksums']);
    expect(await place.read(`${B}/SHA256SUMS`)).toEqual(before);
    expect((await place.filings(['verify', '.'], archive.env)).exitCode).toBe(0);
  });

  it('what is there and not listed is hashed and listed, not fetched again, behind a torn line too', async () => {
    const { archive, place } = await setUp();
    await place.batch([A], ['--all']);
    const before = archive.asked().length;
    await appendFile(join(place.path, A, 'SHA256SUMS'), 'deadbeef');
    const { report } = await place.batch([A], ['--all', '--checksums']);
    expect(archive.asked()).toHaveLength(before + 1);
    expect(await sums(place, A)).toEqual(['a.htm: OK', 'ex1.htm: OK']);
    const hash = createHash('sha256').update('ex').digest('hex');
    expect(report.files.filter(({ result, sha256 }) => result === 'skipped' && sha256 === hash)).toHaveLength(1);
  });

  it('one named file, and the last entry of a name counts', async () => {
    const { archive, place } = await setUp();
    await writeFile(join(place.path, 'SHA256SUMS'), `${'0'.repeat(64)}  a.htm\n`);
    expect((await place.filings(['download', A, 'a.htm', '--checksums'], archive.env)).exitCode).toBe(0);
    const verified = await place.filings(['verify', '.'], archive.env);
    expect(verified.exitCode).toBe(0);
    expect((await place.read('SHA256SUMS')).toString().split('\n')).toHaveLength(3);
  });

  it('verify and sha256sum agree on a flipped bit, a missing file and an unlisted one', async () => {
    const { archive, place } = await setUp();
    await place.batch([A, B], ['--all', '--checksums', '-d', 'out']);
    await writeFile(join(place.path, 'out', A, 'a.htm'), 'b');
    await rm(join(place.path, 'out', B, 'ex.xml'));
    await writeFile(join(place.path, 'out', B, 'new'), 'n');
    const { exitCode, stdout } = await place.filings(['verify', 'out'], archive.env);
    expect(exitCode).toBe(9);
    expect(stdout.toString().split('\n').filter(Boolean).sort()).toEqual(
      [`changed\tout/${A}/a.htm`, `missing\tout/${B}/ex.xml`, `unlisted\tout/${B}/new`].sort(),
    );
    await expect(sums(place, `out/${A}`)).rejects.toThrow(/a.htm: FAILED|did NOT match|Command failed/);
    await expect(sums(place, `out/${B}`)).rejects.toThrow();
  });

  it('a file that can not be listed has failed, and its filing is not done', async () => {
    const { place } = await setUp();
    await place.batch([`${A} a.htm`], []);
    await mkdir(join(place.path, A, 'SHA256SUMS'));
    const { exitCode, report } = await place.batch([A], ['--all', '--checksums', ...DONE]);
    expect(exitCode).toBe(8);
    expect(report.endsSummed).toBe(true);
    expect(report.files.at(-1)).toMatchObject({ result: 'failed', bytes: 0 });
    expect((await place.read('done')).toString()).toBe('');
  });
});
