import { execFileSync } from 'node:child_process';
import { chmod, chown, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ACCESSION, BIN, NODE, serviceAt, type Workplace, workplace } from '../../cli/program.ts';
import { manifest } from '../../recipes.ts';
import { startArchive } from '../../servers/archive.ts';

const { spec } = manifest('job.yaml').spec.template;
const { runAsUser, runAsGroup, fsGroup } = spec.securityContext;
const [copy] = spec.initContainers;
const [container] = spec.containers;
const keyFile = container.env.find(({ name }: { name: string }) => name === 'FILINGS_API_KEY_FILE').value;

const asPodUser = [`--reuid=${runAsUser}`, `--regid=${runAsGroup}`, `--groups=${fsGroup}`];

const why = obstacle();
const there = test.skipIf(why !== '');

function obstacle(): string {
  if (process.geteuid?.() !== 0) return ' (skipped: not root here)';
  try {
    // The program has to be where the pod's user can read it.
    execFileSync('setpriv', [...asPodUser, NODE, BIN, '--version'], { stdio: 'ignore', cwd: '/' });
    return '';
  } catch {
    return ' (skipped: another user can’t run the program here)';
  }
}

/** The pod's volumes: the secret as the kubelet writes it under an fsGroup, whatever defaultMode says; an empty place for the copy. */
async function podPlace(): Promise<Workplace> {
  const place = await workplace();
  for (const path of [place.home, place.path]) await chmod(path, 0o755);
  const [secret, key] = [join(place.path, 'secret'), join(place.path, 'key')];
  for (const folder of [secret, key]) {
    await mkdir(folder);
    await chown(folder, 0, fsGroup);
    await chmod(folder, 0o2777);
  }
  const file = join(secret, 'api-key');
  await writeFile(file, 'the-key-of-the-secret\n');
  await chown(file, 0, fsGroup);
  await chmod(file, 0o440);
  return place;
}

const inPlace = (place: Workplace, path: string) => path.replace('/run/', `${place.path}/`);
/** Runs as the pod's user and groups. */
const asUser = (place: Workplace, argv: readonly string[], env: Record<string, string>) =>
  place.shell(['exec setpriv', ...asPodUser, ...argv].join(' '), env);

async function download(place: Workplace, key: string) {
  const archive = await startArchive({ [ACCESSION]: { 'a.htm': 'it' } });
  const { FILINGS_BASE_URL = '' } = serviceAt(archive.url);
  const env = { FILINGS_BASE_URL, FILINGS_API_KEY_FILE: key };
  return { ...(await asUser(place, [NODE, BIN, 'download', ACCESSION, 'a.htm', '-o', '-'], env)), archive };
}

describe(`the key of a secret${why}`, () => {
  there('is refused as it is mounted, since its group can read it', async () => {
    const place = await podPlace();
    const { exitCode, stderr, archive } = await download(place, join(place.path, 'secret/api-key'));
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining('others can read it')]);
    expect(archive.asked()).toEqual([]);
  });

  there('is taken as the first container copies it, also when that runs once more', async () => {
    const place = await podPlace();
    const argv = copy.command.map((word: string) => inPlace(place, word));
    for (let run = 0; run < 2; run += 1) {
      const copied = await asUser(place, argv, {});
      expect(copied.exitCode, copied.stderr).toBe(0);
    }
    const { exitCode, stdout, stderr, archive } = await download(place, inPlace(place, keyFile));
    expect([exitCode, stdout.toString()], stderr).toEqual([0, 'it']);
    expect(archive.requests[0]?.headers.authorization).toBe('the-key-of-the-secret');
  });
});
