import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { execa } from 'execa';
import { onTestFinished } from 'vitest';
import { run, started, until } from '../../cli/program.ts';
import { emptyPlace } from '../../program/place.ts';

export const ROOT = join(import.meta.dirname, '../../..');

/** The versions of Node that there are for this machine: see scripts/nodes.js. */
export const { MAJORS, areThere, nodeOf } = (await import(join(ROOT, 'scripts/nodes.js'))) as {
  readonly MAJORS: readonly number[];
  readonly areThere: boolean;
  nodeOf(major: number): string;
};

/** A program as somebody has it who has nothing of the project. */
export interface Program {
  readonly file: string;
  readonly PATH: string;
}

/** A folder that the caller removes. */
export const folder = () => mkdtemp(join(tmpdir(), 'filings-package-'));

/** Packs the project as it is built, installs that offline with nothing in npm's cache: the prefix. */
export async function installPackage(below: string): Promise<string> {
  const prefix = join(below, 'prefix');
  const { stdout } = await execa('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', below], {
    cwd: ROOT,
  });
  const [{ filename }] = JSON.parse(stdout) as [{ filename: string }];
  const args = ['install', '--global', '--offline', '--prefix', prefix, '--cache', join(below, 'cache')];
  const env = { PATH: process.env.PATH ?? '', HOME: below };
  await execa('npm', [...args, join(below, filename)], { cwd: below, extendEnv: false, env });
  return prefix;
}

/** The package under a Node, which is the first of the PATH. */
export function packageOn(node: string, prefix: string): Program {
  return { file: join(prefix, 'bin/filings'), PATH: `${dirname(node)}:/usr/bin:/bin` };
}

/** A user with an empty home and an empty folder, and PATH and HOME in the environment, who has the program. */
export async function userOf({ file, PATH }: Program) {
  const place = await emptyPlace();
  const options = (env = {}) => ({ cwd: place.path, env: { PATH, HOME: place.home, ...env } });
  const filings = async (args: readonly string[], env?: Record<string, string>) => {
    const { stdout, ...ended } = await run(file, args, options(env));
    return { ...ended, stdout: stdout.toString() };
  };
  return {
    ...place,
    filings,
    /** The stdout of what succeeds. */
    async said(...args: readonly string[]): Promise<string> {
      const { exitCode, stdout, stderr } = await filings(args);
      if (exitCode !== 0) throw new Error(`filings ${args.join(' ')}: ${exitCode}: ${stderr}`);
      return stdout;
    },
    /** `filings serve`, until the test has ended; its URL when it is there. */
    async serve(...args: readonly string[]) {
      const running = started([file, 'serve', ...args, '--port', '0'], options());
      onTestFinished(() => void running.kill('SIGKILL'));
      let over = false;
      running.ended.then(() => {
        over = true;
      });
      await until(() => over || running.stdout().includes('\n'));
      return { ...running, url: running.stdout().trim() };
    },
  };
}

export const remove = (path: string) => rm(path, { recursive: true, force: true });
