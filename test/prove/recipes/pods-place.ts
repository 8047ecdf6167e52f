import { randomUUID } from 'node:crypto';
import { mkdir, readdir, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type PartName, parsePartName } from '../../../src/transfer/sinks/part/part-name.ts';
import { BIN, NODE, type Running, started, type Workplace, workplace } from '../../cli/program.ts';
import { manifest } from '../../recipes.ts';
import { obstacle, pod } from '../container.ts';

const [container] = manifest('job.yaml').spec.template.spec.containers;
/** Parts of unknown owners are gone on with when they were not touched for so long. */
export const ABANDONED_MINUTES = 10;

/** Why pods can't be imitated here, for a title; empty where they can. */
export const NO_PODS = await (async () => {
  const why = await obstacle(pod('a-name', '/proc/sys/kernel/random/uuid'));
  return why === undefined ? '' : ` (skipped: ${why})`;
})();

export interface Part extends PartName {
  readonly path: string;
}

export interface PodsPlace extends Workplace {
  /** What the manifest calls `/data`. */
  readonly data: string;
  /** The manifest's arguments, for so many shards, in this place. */
  manifestArgs(index: number, shards: number): string[];
  /** Starts the program as the first process of a pod; nodes are numbers. */
  startPod(name: string, node: number, args: readonly string[], env: Record<string, string>): Running;
  /** Parts, records and locks below `/data/filings`. */
  parts(): Promise<Part[]>;
  /** As if a little more than ten minutes had gone by, in which nobody touched them. */
  agesParts(): Promise<void>;
}

/** One directory that several pods of two nodes share, with the accession numbers in its input. */
export async function podsPlace(accessions: readonly string[]): Promise<PodsPlace> {
  const place = await workplace();
  const data = join(place.path, 'data');
  await mkdir(join(data, 'books'), { recursive: true });
  await writeFile(join(data, 'accessions.txt'), accessions.map((each) => `${each}\n`).join(''));
  const boots = [0, 1].map((node) => join(place.path, `boot-${node}`));
  for (const boot of boots) await writeFile(boot, `${randomUUID()}\n`);
  const parts = () => partsBelow(join(data, 'filings'));
  return {
    ...place,
    data,
    manifestArgs: (index, shards) =>
      (container.args as string[]).map((arg) =>
        arg
          .replace('/data/', `${data}/`)
          .replace('$(JOB_COMPLETION_INDEX)', `${index}`)
          .replace(/^--shard=auto\/\d+$/, `--shard=auto/${shards}`),
      ),
    startPod(name, node, args, env) {
      const within = pod(name, boots[node % 2] ?? '');
      const own = { PATH: process.env.PATH, HOME: place.home, ...env };
      const running = started([...within, NODE, BIN, ...args], { cwd: place.path, env: own });
      running.stdin.end();
      return running;
    },
    parts,
    async agesParts() {
      for (const { path } of await parts()) {
        const then = (await stat(path)).mtimeMs / 1000 - ABANDONED_MINUTES * 60 - 1;
        await utimes(path, then, then);
      }
    },
  };
}

async function partsBelow(folder: string): Promise<Part[]> {
  const names = await readdir(folder, { recursive: true }).catch(() => []);
  return names.flatMap((name) => {
    const part = parsePartName(name.slice(name.lastIndexOf('/') + 1));
    return part ? [{ ...part, path: join(folder, name) }] : [];
  });
}
