import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Place } from './place.ts';

/** Writes a config file that takes the key from a shell script; gives its path. */
export async function configWith(place: Place, script: string, baseUrl: string): Promise<string> {
  const config = join(place.home, 'config.json');
  await writeFile(config, JSON.stringify({ baseUrl, apiKeyCommand: ['sh', '-c', script] }), { mode: 0o600 });
  return config;
}

/** What the script wrote to `pid`; 0 before that. */
export async function pidIn(place: Place): Promise<number> {
  return Number(await readFile(join(place.path, 'pid'), 'utf8').catch(() => '0'));
}

export function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
