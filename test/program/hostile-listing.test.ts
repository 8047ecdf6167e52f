import { expect, it } from 'vitest';
import { startOneBody } from '../servers/one-body.ts';
import { ACCESSION, serviceAt, workplace } from './run.ts';

const LARGEST = 16 << 20;

const service = async (...body: Parameters<typeof startOneBody>) => {
  const { url, gone } = await startOneBody(...body);
  return { env: serviceAt(url), gone };
};

it('a small listing that has many ways through it is read at once', async () => {
  const { filings } = await workplace();
  const { env } = await service(`${'{"data":'.repeat(10)}[${'{},'.repeat(20_000)}{}]${'}'.repeat(10)}`);
  const { exitCode, stderr } = await filings(['list', ACCESSION], env);
  expect(stderr).toMatch(/cannot be read: it is an object with the members data, without file names/);
  expect(exitCode).toBe(9);
});

it('one that is too large is not read, and its size is told', async () => {
  const { filings } = await workplace();
  const { env } = await service('[', { 'Content-Length': 60_000_000 });
  const { exitCode, stderr } = await filings(['list', ACCESSION], env);
  expect(stderr).toContain(
    `the listing of ${ACCESSION}: the answer has 60000000 bytes, and ${LARGEST} are the most that is read`,
  );
  expect(exitCode).toBe(9);
});

it('a part of one is refused', async () => {
  const { filings } = await workplace();
  const { env } = await service('["a.htm"]', { 'Content-Range': 'bytes 0-8/100' });
  const { exitCode, stdout, stderr } = await filings(['list', ACCESSION], env);
  expect([exitCode, `${stdout}`], stderr).toEqual([9, '']);
  expect(stderr).toContain('a part of it came (200 with Content-Range)');
});

it('one that is nested too deeply is refused', async () => {
  const { filings } = await workplace();
  const { env } = await service(`[{"name":"a.htm","deep":${'['.repeat(100_000)}1${']'.repeat(100_000)}}]`);
  const { exitCode, stderr } = await filings(['list', ACCESSION, '--json'], env);
  expect(stderr).toMatch(/cannot be read: it is JSON that is nested more than 100 levels deep/);
  expect(exitCode).toBe(9);
});

it.each(['--json', '-l', '-0'])('one of very many files is written whole: %s', async (form) => {
  const { filings } = await workplace();
  const names = Array.from({ length: 300_000 }, (_, i) => `f${i}.htm`);
  const { env } = await service(JSON.stringify(names));
  const { exitCode, stdout, stderr } = await filings(['list', ACCESSION, form], env);
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  expect(stdout.toString().match(/\bf\d+\.htm\b/g)).toEqual(names);
});

it('the deadline too', async () => {
  const { filings } = await workplace();
  const values = '{"a":"bcd"},'.repeat(390_000);
  const { env } = await service(`[${values}${' '.repeat(LARGEST - values.length - 2)}x`);
  const accessions = Array.from({ length: 90 }, (_, i) => `0001234567-24-0000${10 + i}`);
  const { exitCode, stderr } = await filings(['list', ...accessions, '--deadline', '4s'], env);
  expect(stderr).toMatch(/the deadline of 4 s has passed; .*\d+ filings not started/);
  expect(exitCode).toBe(7);
});

it('the hint about one that is no listing asks the same service', async () => {
  const { filings } = await workplace();
  const { env } = await service('{}');
  const { FILINGS_BASE_URL: url = '', ...others } = env as Record<string, string>;
  const { stderr } = await filings(['list', ACCESSION, '--base-url', url], others);
  expect(stderr).toMatch(/cannot be read: .*\n {2}hint: .* See: (.*)\n$/);
  expect(stderr).toContain(`See: filings config list --base-url ${url}\n`);
});
