import * as crypto from 'node:crypto';
import { FilingsError } from '../../../errors.ts';
import type { AccessionNumber } from '../../../service/accession.ts';
import type { NumberedLine } from './lines.ts';

/** The `index`th of `count` disjoint parts of the input; the index is from 1. */
export interface Shard {
  readonly index: number;
  readonly count: number;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Where an engine says which task this is, and what its first one is called. */
const INDICES: readonly (readonly [variable: string, first: number])[] = [
  ['SLURM_ARRAY_TASK_ID', 1],
  ['JOB_COMPLETION_INDEX', 0],
  ['AWS_BATCH_JOB_ARRAY_INDEX', 0],
];
const AWS_INDEX = 'AWS_BATCH_JOB_ARRAY_INDEX';
const AWS_SIZE = 'AWS_BATCH_JOB_ARRAY_SIZE';
const WHOLE_NUMBER = /^[0-9]{1,9}$/;

/** Reads the value of `--shard` (interface page): `I/N`, `auto/N`, or `auto` on AWS Batch. Throws `usage`. */
export function parseShard(text: string, env: Environment): Shard {
  const [, part, parts] = /^([0-9]{1,9}|auto)(?:\/([0-9]{1,9}))?$/.exec(text) ?? [];
  const count = parts === undefined ? undefined : Number(parts);
  if (part !== 'auto' && count === undefined) throw fault(text, 'is not I/N', HOW);
  if (count === 0) throw fault(text, 'there are no parts', HOW);
  if (part === 'auto') return automatic(text, count, env);
  const index = Number(part);
  if (index < 1 || index > (count ?? 0)) throw fault(text, `there is no part ${index} of ${count}`, HOW);
  return { index, count: count ?? 0 };
}

const HOW = 'such as --shard 1/8 to --shard 8/8, or --shard auto/8 in an array of tasks';

function automatic(text: string, count: number | undefined, env: Environment): Shard {
  const [told, ...others] = INDICES.filter(([variable]) => env[variable]);
  if (told === undefined) {
    const names = INDICES.map(([variable]) => variable).join(', ');
    throw fault(text, `none of ${names} is set`, 'say which part it is: --shard 1/8');
  }
  const [variable, first] = told;
  if (others.length > 0) {
    const names = [told, ...others].map(([name]) => name).join(' and ');
    throw fault(text, `${names} are set: they may tell two different parts`, 'unset all but one, or say --shard 1/8');
  }
  const size = count ?? arraySize(text, variable, env);
  const index = numberIn(text, variable, env) - first + 1;
  if (index >= 1 && index <= size) return { index, count: size };
  const range = `${first} to ${size - 1 + first}`;
  throw fault(text, `${variable} is ${env[variable]}, and of ${size} parts the indices are ${range}`, ARRAY_HINT);
}

const ARRAY_HINT = 'let the array have as many tasks as there are parts';

/** The size of the array as AWS Batch tells it; elsewhere a task that is submitted again alone would take everything. */
function arraySize(text: string, variable: string, env: Environment): number {
  const hint = 'say how many parts there are: --shard auto/8';
  if (variable !== AWS_INDEX) throw fault(text, `${variable} tells the part alone, and not how many there are`, hint);
  if (!env[AWS_SIZE]) throw fault(text, `${AWS_SIZE} is not set`, hint);
  return numberIn(text, AWS_SIZE, env);
}

function numberIn(text: string, variable: string, env: Environment): number {
  const value = env[variable] ?? '';
  if (WHOLE_NUMBER.test(value)) return Number(value);
  throw fault(text, `${variable} is no whole number: '${value.slice(0, 40)}'`, ARRAY_HINT);
}

function fault(text: string, why: string, hint: string): FilingsError {
  return new FilingsError('usage', `--shard ${text.slice(0, 60)}: ${why}`, { hint });
}

/** Which shard of `count` a filing belongs to: the first 8 bytes of SHA-256 of its number, big-endian, mod `count`, plus 1. */
export function shardOf(accession: AccessionNumber, count: number): number {
  const hex = crypto.hash('sha256', accession);
  return Number(BigInt(`0x${hex.slice(0, 16)}`) % BigInt(count)) + 1;
}

/** Whether a line is this shard's to take, or, where it can't be read, to report. */
export function belongsTo({ index, count }: Shard, line: NumberedLine): boolean {
  return (line.kind === 'bad' ? (line.number % count) + 1 : shardOf(line.accession, count)) === index;
}
