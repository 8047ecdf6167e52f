import { join } from 'node:path';
import { execa, type Options } from 'execa';

export const BIN = join(import.meta.dirname, '../../bin/filings.js');

/** Runs the built program in an empty environment, with an empty stdin unless told. */
export function filings(args: readonly string[], options: Options & { env?: Record<string, string> } = {}) {
  return execa(process.execPath, [BIN, ...args], {
    env: {},
    extendEnv: false,
    reject: false,
    input: '',
    stripFinalNewline: false,
    ...options,
  });
}
