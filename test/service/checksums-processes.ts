import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { build } from 'esbuild';
import { onTestFinished } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');

/** Bundles a program over our own modules into a folder, since Node 20 can't read TypeScript; gives its path. */
export async function bundled(folder: string, name: string, source: string): Promise<string> {
  const outfile = join(folder, `${name}.mjs`);
  const stdin = { contents: source, resolveDir: ROOT, loader: 'ts' as const };
  await build({ stdin, outfile, bundle: true, platform: 'node', format: 'esm', logLevel: 'warning' });
  return outfile;
}

export interface Child {
  readonly pid: number;
  /** The exit status, with what it said on stderr when that is not 0. */
  readonly ended: Promise<string>;
  kill(): void;
  /** Resolves with its next line on stdout. */
  line(): Promise<void>;
}

export function start(program: string, args: readonly string[]): Child {
  const child = spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  let stderr = '';
  child.stderr.on('data', (chunk) => {
    stderr += chunk;
  });
  const ended = once(child, 'exit').then(([code]) => (code === 0 ? '0' : `${code} ${stderr}`));
  const line = async () => void (await once(child.stdout, 'data'));
  return { pid: child.pid ?? 0, ended, kill: () => void child.kill('SIGKILL'), line };
}
