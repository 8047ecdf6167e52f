import { serviceAt } from './place.ts';
import type { Ended } from './run.ts';

interface Workplace {
  filings(args: readonly string[], env: Record<string, string>): Promise<Ended>;
}

/** What `config check` says of each part. */
export async function verdictsIn(place: Workplace, url: string, env: Record<string, string> = {}) {
  const { exitCode, stdout, stderr } = await place.filings(['config', 'check'], { ...serviceAt(url), ...env });
  const lines = stdout.toString().trimEnd().split('\n');
  const verdicts = Object.fromEntries(lines.map((line) => line.split('\t').slice(0, 2)));
  return { exitCode, stderr, verdicts };
}
