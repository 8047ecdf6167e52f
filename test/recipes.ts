import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { type ErrorCode, FilingsError } from '../src/errors.ts';

const folder = join(import.meta.dirname, '../docs/recipes');

/** A manifest as kubectl reads it: YAML 1.1, where 0400 is octal. */
export const manifest = (name: string) =>
  parse(readFileSync(join(folder, 'kubernetes', name), 'utf8'), { version: '1.1' });

export const jobDefinition = () => JSON.parse(readFileSync(join(folder, 'aws-batch/job-definition.json'), 'utf8'));

/** The exit status of a code; a signal's is that of SIGTERM. */
export const statusOf = (code: ErrorCode): number =>
  new FilingsError(code, '', code === 'interrupted' ? { signal: 15 } : {}).exitStatus;

/**
 * What an engine is to do about each way in which a run can end. `again`: the same task after a while. `task`: no more of
 * this one. `job`: no more of any.
 */
export const ACTIONS: Readonly<Record<ErrorCode, 'again' | 'task' | 'job' | 'any'>> = {
  temporary: 'again',
  partial: 'task',
  local_io: 'task',
  limit: 'task',
  usage: 'job',
  config: 'job',
  auth: 'job',
  // A batch does not end with these, or not by what it did itself: the engine's own way will do.
  internal: 'any',
  not_found: 'any',
  rejected: 'any',
  integrity: 'any',
  interrupted: 'any',
};
