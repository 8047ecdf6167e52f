import { humanBytes } from '../text.ts';
import type { Outcome } from '../transfer/outcome.ts';

/** Returns the line on stderr for a file that has ended without an error. */
export function outcomeLine(fileName: string, { path, result, bytes, resumedBytes, verifiedLength }: Outcome): string {
  const name = path ?? fileName;
  const unverified = verifiedLength ? '' : ' (the service gave no length to check)';
  switch (result) {
    case 'skipped':
      return `${name}: already exists, not downloaded (use --if-exists overwrite to replace it)`;
    case 'planned':
      return `${name}: would be downloaded${bytes > 0 ? ` (${humanBytes(bytes)})` : ''}`;
    case 'resumed':
      return `${name}: ${humanBytes(bytes)}, resumed at ${humanBytes(resumedBytes)}${unverified}`;
    default:
      return `${name}: ${humanBytes(bytes)}${unverified}`;
  }
}

/** Returns the note on bytes that the next run resumes from. */
export function resumableLine(bytes: number): string {
  return `stopped at ${humanBytes(bytes)}; run the same command to resume`;
}
