import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { FilingsError } from '../../src/errors.ts';
import { type AccessionNumber, parseAccession } from '../../src/service/accession.ts';
import type { NumberedLine } from '../../src/transfer/selection/input/lines.ts';
import { belongsTo, parseShard, shardOf } from '../../src/transfer/selection/input/shard.ts';

describe('parseShard', () => {
  test.each<[text: string, env: Record<string, string>, index: number, count: number]>([
    ['1/1', {}, 1, 1],
    ['3/8', {}, 3, 8],
    ['8/8', {}, 8, 8],
    ['03/08', {}, 3, 8],
    ['2/3', { SLURM_ARRAY_TASK_ID: '1', JOB_COMPLETION_INDEX: 'x' }, 2, 3],
    ['auto/4', { SLURM_ARRAY_TASK_ID: '1' }, 1, 4],
    ['auto/4', { SLURM_ARRAY_TASK_ID: '4', SLURM_ARRAY_TASK_COUNT: '1' }, 4, 4],
    ['auto/4', { SLURM_ARRAY_TASK_ID: '2', JOB_COMPLETION_INDEX: '' }, 2, 4],
    ['auto/40', { SLURM_ARRAY_TASK_ID: '12' }, 12, 40],
    ['auto/4', { JOB_COMPLETION_INDEX: '0' }, 1, 4],
    ['auto/4', { JOB_COMPLETION_INDEX: '3' }, 4, 4],
    ['auto/4', { AWS_BATCH_JOB_ARRAY_INDEX: '3' }, 4, 4],
    ['auto/4', { AWS_BATCH_JOB_ARRAY_INDEX: '3', AWS_BATCH_JOB_ARRAY_SIZE: '9' }, 4, 4],
    ['auto', { AWS_BATCH_JOB_ARRAY_INDEX: '0', AWS_BATCH_JOB_ARRAY_SIZE: '9' }, 1, 9],
    ['auto', { AWS_BATCH_JOB_ARRAY_INDEX: '8', AWS_BATCH_JOB_ARRAY_SIZE: '9' }, 9, 9],
  ])('%s with %j', (text, env, index, count) => {
    expect(parseShard(text, env)).toEqual({ index, count });
  });

  test.each<[text: string, env: Record<string, string>, why: string | RegExp]>([
    ['', {}, 'is not I/N'],
    ['3', {}, 'is not I/N'],
    ['3/', {}, 'is not I/N'],
    ['/3', {}, 'is not I/N'],
    ['1/2/3', {}, 'is not I/N'],
    ['-1/3', {}, 'is not I/N'],
    ['1.0/3', {}, 'is not I/N'],
    ['1/3\n', {}, 'is not I/N'],
    ['1/1e3', {}, 'is not I/N'],
    ['1/9999999999', {}, 'is not I/N'],
    ['AUTO/3', { SLURM_ARRAY_TASK_ID: '1' }, 'is not I/N'],
    ['0/3', {}, 'there is no part 0 of 3'],
    ['4/3', {}, 'there is no part 4 of 3'],
    ['0/0', {}, 'there are no parts'],
    ['auto/0', { SLURM_ARRAY_TASK_ID: '1' }, 'there are no parts'],
    ['auto/4', {}, /^none of SLURM_ARRAY_TASK_ID, JOB_COMPLETION_INDEX, AWS_BATCH_JOB_ARRAY_INDEX is set$/],
    ['auto', {}, /^none of /],
    ['auto/4', { SLURM_ARRAY_TASK_ID: '' }, /^none of /],
    [
      'auto/4',
      { SLURM_ARRAY_TASK_ID: '1', AWS_BATCH_JOB_ARRAY_INDEX: '0' },
      /^SLURM_ARRAY_TASK_ID and AWS_BATCH_JOB_ARRAY_INDEX are set/,
    ],
    ['auto/4', { SLURM_ARRAY_TASK_ID: '0' }, 'SLURM_ARRAY_TASK_ID is 0, and of 4 parts the indices are 1 to 4'],
    ['auto/4', { SLURM_ARRAY_TASK_ID: '5' }, 'SLURM_ARRAY_TASK_ID is 5, and of 4 parts the indices are 1 to 4'],
    ['auto/4', { JOB_COMPLETION_INDEX: '4' }, 'JOB_COMPLETION_INDEX is 4, and of 4 parts the indices are 0 to 3'],
    ['auto/4', { JOB_COMPLETION_INDEX: 'one' }, "JOB_COMPLETION_INDEX is no whole number: 'one'"],
    ['auto/4', { JOB_COMPLETION_INDEX: '-1' }, "JOB_COMPLETION_INDEX is no whole number: '-1'"],
    ['auto/4', { SLURM_ARRAY_TASK_ID: '1_2' }, "SLURM_ARRAY_TASK_ID is no whole number: '1_2'"],
    ['auto', { SLURM_ARRAY_TASK_ID: '1', SLURM_ARRAY_TASK_COUNT: '1' }, /^SLURM_ARRAY_TASK_ID tells the part alone/],
    ['auto', { JOB_COMPLETION_INDEX: '1', AWS_BATCH_JOB_ARRAY_SIZE: '4' }, /^JOB_COMPLETION_INDEX tells the part/],
    ['auto', { AWS_BATCH_JOB_ARRAY_INDEX: '1' }, 'AWS_BATCH_JOB_ARRAY_SIZE is not set'],
    [
      'auto',
      { AWS_BATCH_JOB_ARRAY_INDEX: '1', AWS_BATCH_JOB_ARRAY_SIZE: 'x' },
      "AWS_BATCH_JOB_ARRAY_SIZE is no whole number: 'x'",
    ],
    ['auto', { AWS_BATCH_JOB_ARRAY_INDEX: '4', AWS_BATCH_JOB_ARRAY_SIZE: '4' }, /^AWS_BATCH_JOB_ARRAY_INDEX is 4/],
  ])('refuses %j with %j', (text, env, why) => {
    let thrown: unknown;
    try {
      parseShard(text, env);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(FilingsError);
    const { code, message, hint } = thrown as FilingsError;
    expect(code).toBe('usage');
    expect(hint).toMatch(/--shard|array/);
    const said = message.slice(`--shard ${text}: `.length);
    if (typeof why === 'string') expect(said).toBe(why);
    else expect(said).toMatch(why);
  });
});

test.each<[why: string, text: string, env: Record<string, string>, message: string]>([
  ['--shard', 'x'.repeat(61), {}, `--shard ${'x'.repeat(60)}: is not I/N`],
  [
    'a variable',
    'auto/4',
    { JOB_COMPLETION_INDEX: 'x'.repeat(41) },
    `--shard auto/4: JOB_COMPLETION_INDEX is no whole number: '${'x'.repeat(40)}'`,
  ],
])('a long value of %s is cut in the message', (_, text, env, message) => {
  expect(() => parseShard(text, env)).toThrow(expect.objectContaining({ message }));
});

/** Never to be changed: shards of different versions share the work of one list. */
const VECTORS: readonly (readonly [accession: string, count: number, shard: number])[] = [
  ['0001234567-24-000001', 2, 1],
  ['0001234567-24-000001', 8, 7],
  ['0001234567-24-000001', 1000, 199],
  ['0000000000-00-000000', 16, 3],
  ['9999999999-99-999999', 3, 2],
  ['0000320193-23-000106', 7, 6],
  ['0000320193-23-000106', 999999999, 146264593],
  ['0001193125-24-012345', 64, 57],
  ['0001193125-24-012345', 10000, 3065],
];

/** What the interface page says, as a shell computes it. `h * 2^32 + l` is beyond its numbers: their rests are not. */
const IN_A_SHELL = `
while read -r accession count; do
  hash=$(printf %s "$accession" | sha256sum)
  rest=\${hash#????????}
  high=0x\${hash%"$rest"} low=0x\${rest%"\${rest#????????}"}
  echo $(( ((high % count) * (4294967296 % count) + low % count) % count + 1 ))
done`;

function inAShell(rows: readonly (readonly [string, number])[]): number[] {
  const input = rows.map((row) => `${row.join(' ')}\n`).join('');
  return execFileSync('sh', ['-c', IN_A_SHELL], { input, encoding: 'utf8' }).trim().split('\n').map(Number);
}

describe('shardOf', () => {
  test.each(VECTORS)('%s of %i is in %i', (accession, count, shard) => {
    expect(shardOf(parseAccession(accession), count)).toBe(shard);
  });

  test('a shell computes the same', () => {
    const rows = VECTORS.map(([accession, count]) => [accession, count] as const);
    expect(inAShell(rows)).toEqual(VECTORS.map(([, , shard]) => shard));
    const more = Array.from(
      { length: 60 },
      (_, i) => [`${1e9 + i * 7_919}-24-${100_000 + i}`, 2 + i * i * 31] as const,
    );
    expect(inAShell(more)).toEqual(more.map(([accession, count]) => shardOf(parseAccession(accession), count)));
  });
});

describe('belongsTo', () => {
  const entry = (accession: string, number: number): NumberedLine => ({
    kind: 'entry',
    accession: accession as AccessionNumber,
    number,
    end: 0,
  });
  const bad = (number: number): NumberedLine => ({
    kind: 'bad',
    fault: new FilingsError('usage', 'x'),
    number,
    end: 0,
  });

  test.each([
    [1, 3, 2],
    [2, 3, 3],
    [3, 3, 1],
    [4, 1, 1],
  ])('line %i, which can not be read, is of %i shards in %i', (number, count, index) => {
    expect(belongsTo({ index, count }, bad(number))).toBe(true);
  });

  test('every line is in exactly one shard, and a filing in the same one whatever its line', () => {
    const accessions = fc.integer({ min: 0, max: 999_999 }).map((n) => `0001234567-24-${`${n}`.padStart(6, '0')}`);
    const taken = new Set<number>();
    fc.assert(
      fc.property(accessions, fc.integer({ min: 1, max: 40 }), fc.nat(1000), (accession, count, number) => {
        const shards = Array.from({ length: count }, (_, i) => ({ index: i + 1, count }));
        const of = (line: NumberedLine) => shards.filter((shard) => belongsTo(shard, line)).map(({ index }) => index);
        expect(of(entry(accession, number))).toEqual([shardOf(accession as AccessionNumber, count)]);
        expect(of(entry(accession, number + 1))).toEqual(of(entry(accession, number)));
        expect(of(bad(number))).toHaveLength(1);
        if (count > 20) taken.add(of(entry(accession, number))[0] ?? 0);
      }),
      { numRuns: 300 },
    );
    expect(taken.size).toBeGreaterThan(20);
  });
});
