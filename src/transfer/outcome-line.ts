import { reasonOf } from '../errors.ts';
import type { RetryEvent } from '../http/retry.ts';
import type { Wait } from '../terminal/progress/lines.ts';
import { humanBytes } from '../text.ts';
import type { Outcome } from './outcome.ts';

/** What a person reads when a file has ended well. */
export function outcomeLine({ wanted, path, result, bytes, saved, verifiedLength }: Outcome): string {
  const name = path ?? wanted.fileName;
  const unverified = verifiedLength ? '' : ' (the service gave no length to check)';
  switch (result) {
    case 'skipped':
      return `${name}: already exists, not downloaded (use --if-exists overwrite to replace it)`;
    case 'planned':
      return `${name}: would be downloaded${bytes > 0 ? ` (${humanBytes(bytes)})` : ''}`;
    case 'resumed':
      return `${name}: ${humanBytes(bytes)}, resumed at ${humanBytes(saved)}${unverified}`;
    default:
      return `${name}: ${humanBytes(bytes)}${unverified}`;
  }
}

/** What is left of a file that did not come whole. */
export function keptLine(kept: number): string {
  return `stopped at ${humanBytes(kept)}; run the same command to resume`;
}

/** What a person reads during a wait: why, how long, and which of how many further tries comes next. */
export function retryWait({ error, waitMs, asked, retry, retries }: RetryEvent): Wait {
  const seconds = Math.max(1, Math.round(waitMs / 1000));
  const wait = asked ? `the service asks to wait ${seconds} s` : `trying again in ${seconds} s`;
  return { reason: reasonOf(error), next: `${wait}, ${retry} of ${retries}` };
}
