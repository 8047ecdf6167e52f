import { getSystemErrorMap } from 'node:util';
import { errnoOf } from '../errors.ts';

/** What the system said, in words and with its name: `permission denied (EACCES)`. */
export function systemReason(error: unknown): string {
  const code = errnoOf(error);
  if (code === undefined) return error instanceof Error ? error.message : String(error);
  const [, words] = [...getSystemErrorMap().values()].find(([name]) => name === code) ?? [];
  return words === undefined ? code : `${words} (${code})`;
}
