import { chown, cp, mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { NODE, started, until } from '../cli/program.ts';
import { emptyPlace } from '../program/place.ts';
import { head, rangeStart, sendFile } from '../servers/answers.ts';
import { accession, startArchive } from '../servers/archive.ts';
import { container } from './container.ts';

// The container of docs/recipes/kubernetes as a cluster starts it: the command and the settings of the manifest, as its
// user, on a root file system that is read-only, with a volume and a key that root owns.

const ROOT = join(import.meta.dirname, '../..');
const text = await readFile(join(ROOT, 'docs/recipes/kubernetes/cronjob.yaml'), 'utf8');
const documents = parseAllDocuments(text, { strict: true, uniqueKeys: true });
const [list, claim, cronJob] = documents.map((document) => document.toJS());
const job = cronJob.spec.jobTemplate.spec;
const pod = job.template.spec;
const [main] = pod.containers;
const variables: Record<string, string> = Object.fromEntries(
  main.env.map(({ name, value }: { name: string; value: string }) => [name, value]),
);
const namesIn = (items: readonly { name: string }[]) => items.map(({ name }) => name).sort();

test('the manifest is sound YAML, and its parts name each other', () => {
  expect(documents.flatMap(({ errors, warnings }) => [...errors, ...warnings])).toEqual([]);
  expect([list.kind, claim.kind, cronJob.kind]).toEqual(['ConfigMap', 'PersistentVolumeClaim', 'CronJob']);
  expect(namesIn(main.volumeMounts)).toEqual(namesIn(pod.volumes));
  expect(pod.volumes).toMatchObject([
    { persistentVolumeClaim: { claimName: claim.metadata.name } },
    { configMap: { name: list.metadata.name } },
    { secret: { defaultMode: 0o440 } },
  ]);
  // Kubernetes allows a podFailurePolicy only with this restartPolicy.
  expect(pod.restartPolicy).toBe('Never');
  expect(job.podFailurePolicy.rules[1].onExitCodes.containerName).toBe(main.name);
});

describe.runIf(process.geteuid?.() === 0)('the container', () => {
  const user: number = pod.securityContext.runAsUser;

  /** Starts the container. Its volume is the working directory of the place. */
  async function startPod(place: Awaited<ReturnType<typeof emptyPlace>>, baseUrl: string) {
    const upper = join(place.home, 'upper');
    const own = (name: string) => join(upper, name);
    for (const folder of ['data', 'opt/bin', 'merged', '../merged', '../scratch']) {
      await mkdir(own(folder), { recursive: true });
    }
    await place.write(own('etc/filings/accessions.txt'), list.data['accessions.txt'], 0o644);
    const key = await place.write(own(variables.FILINGS_API_KEY_FILE ?? ''), 'a-key\n', 0o440);
    await chown(key, 0, user);
    await chown(place.path, user, user);
    for (const name of ['bin', 'dist', 'package.json']) {
      await cp(join(ROOT, name), own(`opt/filings/${name}`), { recursive: true });
    }
    await cp(NODE, own('opt/bin/node'));
    // npm makes a link here whose target it makes executable.
    await place.write(own('opt/bin/filings'), "#!/usr/bin/env node\nrequire('/opt/filings/bin/filings.js');\n", 0o755);
    const merged = join(place.home, 'merged');
    const layers = `lowerdir=/,upperdir='${upper}',workdir='${join(place.home, 'scratch')}'`;
    const setUp = [
      `mount -t overlay overlay -o ${layers} '${merged}'`,
      `mount -o remount,ro '${merged}'`,
      `mount --bind '${place.path}' '${merged}${main.workingDir}'`,
      `cd '${merged}'`,
    ].join(' && ');
    const asUser = ['setpriv', `--reuid=${user}`, `--regid=${user}`, '--clear-groups', '--no-new-privs'];
    const inside = [
      'chroot',
      '.',
      ...asUser,
      'sh',
      '-c',
      `cd ${main.workingDir} && unset HOME && exec "$@"`,
      'pod',
      ...main.command,
    ];
    // The shell that sets this up would otherwise read the start-up file of root's home.
    const env = {
      ...variables,
      HOME: place.home,
      PATH: '/opt/bin:/usr/sbin:/usr/bin:/sbin:/bin',
      FILINGS_BASE_URL: baseUrl,
    };
    // The same process runs the command in the end, so that a signal reaches it.
    return started([...container([], setUp).filter((word) => !/^--(fork|kill-child)$/.test(word)), ...inside], { env });
  }

  const LARGE = Buffer.alloc(3_000_000, 'a large exhibit ');
  const [one, two] = [accession(1), accession(2)];

  test('mirrors into its volume, and after SIGTERM the next one resumes a large file', async () => {
    let isCut = true;
    const starts: (number | undefined)[] = [];
    const files = { 'ex1.htm': 'one', 'other.htm': 'not chosen' };
    const archive = await startArchive(
      { [one]: { ...files, 'ex2.htm': LARGE }, [two]: files },
      {
        instead(socket, { name, request }) {
          if (name !== 'ex2.htm') return false;
          starts.push(rangeStart(request));
          if (!isCut) sendFile(socket, request, LARGE, '"v1"');
          else socket.write(head(200, { 'Content-Length': LARGE.length, ETag: '"v1"' }));
          if (isCut) socket.write(LARGE.subarray(0, 2_000_000));
          return true;
        },
      },
    );
    const place = await emptyPlace();
    const first = await startPod(place, archive.env.FILINGS_BASE_URL);
    const received = async () => {
      const names = await readdir(place.at(`exhibits/${one}`)).catch(() => []);
      const part = names.find((name) => name.endsWith('part'));
      // A file may be complete, and its part gone, at that point.
      return part === undefined ? 0 : (await place.read(`exhibits/${one}/${part}`).catch(() => '')).length;
    };
    await Promise.race([until(async () => (await received()) === 2_000_000), first.ended]);
    first.kill('SIGTERM');
    const stopped = await first.ended;
    expect([stopped.exitCode, stopped.stdout.length], stopped.stderr).toEqual([143, 0]);

    isCut = false;
    const next = await emptyPlace();
    await cp(place.path, next.path, { recursive: true });
    for (const name of await readdir(next.path, { recursive: true })) await chown(next.at(name), user, user);
    const { exitCode, stderr } = await (await startPod(next, archive.env.FILINGS_BASE_URL)).ended;
    expect([exitCode, stderr]).toEqual([0, '']);
    expect(starts).toEqual([undefined, 2_000_000]);
    expect((await next.read(`exhibits/${one}/ex2.htm`)).equals(LARGE)).toBe(true);
    expect(await readdir(next.at(`exhibits/${two}`))).toEqual(['SHA256SUMS', 'ex1.htm']);
    expect(await next.names()).toEqual(['exhibits', 'exhibits.done', 'failed.txt', 'report.jsonl']);
  });
});
