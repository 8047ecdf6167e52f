import { symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { accession, startArchive } from '../servers/archive.ts';
import { workplace } from './run.ts';

const A = accession(1);

/** Wrong command lines, and what is said of them. */
const REFUSED: readonly (readonly [why: string, args: readonly string[], says: RegExp])[] = [
  ['a FILE beside --all', [A, 'a.htm', '--all'], /FILE cannot be used with --all/],
  ['a FILE beside --include', [A, 'a.htm', '--include', '*'], /FILE cannot be used with/],
  ['a FILE beside --exclude', [A, 'a.htm', '--exclude', '*'], /FILE cannot be used with/],
  ['neither a FILE nor --all', [A, '--sandbox'], /no files selected[\s\S]*filings list [\d-]+ --sandbox/],
  ['no accession', [], /ACCESSION is missing/],
  ['an accession beside --input', [A, '--input', 'in', '--all'], /--input cannot be used with ACCESSION/],
  ['-o for --all', [A, '--all', '-o', 'x'], /--output/],
  ['-o for --input', ['-i', 'in', '-o', 'x'], /--output/],
  ['-o for two names', [A, 'a', 'b', '-o', 'x'], /--output takes exactly one/],
  ['--sha256 for --all', [A, '--all', '--sha256', 'a'.repeat(64)], /--sha256/],
  ['--sha256 for --input', ['-i', 'in', '--sha256', 'a'.repeat(64)], /--sha256/],
  ['--sha256 for two names', [A, 'a', 'b', '--sha256', 'a'.repeat(64)], /--sha256/],
  ['--spool for --all', [A, '--all', '--spool'], /--spool/],
  ['--spool for --input', ['-i', 'in', '--spool'], /--spool/],
  ['--done without --input', [A, '--all', '--done', 'd'], /--done: goes with --input/],
  ['an open bracket', [A, '--include', '['], /--include.*\[/],
  ['an open brace', [A, '--include', '{a'], /--include.*\{a/],
  ['an open brace in --exclude', [A, '--all', '--exclude', '{a'], /--exclude.*\{a/],
  ['a bad --include beside --all', [A, '--all', '--include', '['], /--include.*\[/],
  ['a layout without {file_name}', [A, '--all', '--layout', '{accession_no}'], /--layout.*file_name/],
  ['a layout with another brace', [A, '--all', '--layout', '{cik}/{file_name}'], /--layout.*cik/],
  ['a layout that climbs', [A, '--all', '--layout', '../{file_name}'], /--layout.*\.\./],
  ['an absolute layout', [A, '--all', '--layout', '/x/{file_name}'], /--layout.*absolute/],
  ['--failed that is --input', ['-i', 'in', '--failed', 'in'], /same file/],
  ['--done that is --input', ['-i', 'in', '--done', './in'], /same file/],
  ['--report that is --input', ['-i', 'in', '--report', 'in'], /same file/],
  ['--report that is --failed', ['-i', 'in', '--report', 'x', '--failed', 'x'], /same file/],
  ['--report that is --done', ['-i', 'in', '--report', 'x', '--done', 'x'], /same file/],
  ['--done that is --failed', ['-i', 'in', '--failed', 'x', '--done', 'x'], /same file/],
  ['--report that is --input by a link', ['-i', 'in', '--report', 'link'], /same file/],
  ['--failed that is --input by a directory link', ['-i', 'in', '--failed', 'here/in'], /same file/],
  ['--report and --failed by a directory link', ['-i', 'in', '--report', 'x', '--failed', 'here/x'], /same file/],
  ['stdin twice', ['-i', '-', '--all', '--api-key-file', '-'], /stdin/],
  ['stdout twice', [A, 'a.htm', '-o', '-', '--report', '-'], /stdout/],
  ['stdout twice by another name', [A, 'a.htm', '-o', '-', '--report', '/dev/stdout'], /stdout/],
  ['--failed on stdout', ['-i', 'in', '--failed', '-'], /--failed/],
  ['--done on stdout', ['-i', 'in', '--done', '-'], /--done/],
  ['-o that is a directory', [A, 'a.htm', '-o', 'here'], /--output must be a file/],
  ['-o with a slash at its end', [A, 'a.htm', '-o', 'new/'], /--output must be a file/],
  ['--failed that is a directory', ['-i', 'in', '--failed', '.'], /--failed must be a file/],
  ['--failed that is a device', ['-i', 'in', '--failed', '/dev/null'], /--failed must be a file/],
  ['an input that is missing', ['-i', 'missing', '--all'], /--input missing: no such file/],
  ['an input that is a directory', ['-i', '.', '--all'], /--input \.: it is a directory/],
  ['an unsafe name', [A, '../x'], /file name/],
  ['a name with a folder', [A, 'xslF345X05/form4.xml'], /-o/],
  ['two names that may be one file', [A, 'R2.htm', 'r2.htm'], /R2\.htm/],
];

describe('a wrong command line of download', () => {
  it.each(REFUSED)('%s: exit 2, and nothing is asked or written', async (_why, args, says) => {
    const archive = await startArchive({ [A]: { 'a.htm': 'a' } });
    const place = await workplace();
    await writeFile(join(place.path, 'in'), `${A} a.htm\n`);
    await symlink('in', join(place.path, 'link'));
    await symlink('.', join(place.path, 'here'));
    const { exitCode, stderr, stdout } = await place.filings(['download', ...args], archive.env);
    expect({ exitCode, stdout: stdout.toString() }).toEqual({ exitCode: 2, stdout: '' });
    expect(stderr).toMatch(says);
    expect(archive.asked()).toEqual([]);
    expect((await place.names()).sort()).toEqual(['here', 'in', 'link']);
    expect((await place.read('in')).toString()).toBe(`${A} a.htm\n`);
  });
});
