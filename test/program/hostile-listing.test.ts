import { expect, it } from 'vitest';
import { startOneBody } from '../servers/one-body.ts';
import { ACCESSION, serviceAt, workplace } from './run.ts';

async function list(body: Parameters<typeof startOneBody>, args: string[] = []) {
  const { url } = await startOneBody(...body);
  const { filings } = await workplace();
  return filings(['list', ACCESSION, ...args], serviceAt(url));
}

it.each<[what: string, seen: RegExp, ...Parameters<typeof startOneBody>]>([
  [
    'small, with many ways through it',
    /cannot be read: it is JSON without file names: with the members data\n/,
    `${'{"data":'.repeat(10)}[${'{},'.repeat(20_000)}{}]${'}'.repeat(10)}`,
  ],
  ['too large', /larger than 16777216 bytes, the most that is read\n/, '[', { 'Content-Length': 60_000_000 }],
  ['a part', /a part of it came \(200 with Content-Range\)\n/, '["a.htm"]', { 'Content-Range': 'bytes 0-8/100' }],
  [
    'nested too deeply',
    /cannot be read: it is JSON nested more than 100 levels deep\n/,
    `[{"name":"a.htm","deep":${'['.repeat(100_000)}1${']'.repeat(100_000)}}]`,
  ],
])('one that is %s is refused', async (_, seen, ...body) => {
  const { exitCode, stdout, stderr } = await list(body);
  expect([exitCode, `${stdout}`], stderr).toEqual([9, '']);
  expect(stderr).toMatch(seen);
});

it.each(['--json', '-l', '-0'])('one of very many files is written whole: %s', async (form) => {
  const names = Array.from({ length: 300_000 }, (_, i) => `f${i}.htm`);
  const { exitCode, stdout, stderr } = await list([JSON.stringify(names)], [form]);
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  expect(stdout.toString().match(/\bf\d+\.htm\b/g)).toEqual(names);
});
