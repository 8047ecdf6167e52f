import { chown, cp, mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { NODE, started, until } from '../cli/program.ts';
import { emptyPlace } from '../program/place.ts';
import { accession, startArchive } from '../servers/archive.ts';
import { LARGE, SENT_BYTES, stallingOnce } from './recipes/mirrored.ts';

const ROOT = join(import.meta.dirname, '../..');
const text = await readFile(join(ROOT, 'docs/recipes/kubernetes/cronjob.yaml'), 'utf8');
const documents = parseAllDocuments(text, { strict: true, uniqueKeys: true });
const [list, claim, cronJob] = documents.map((document) => document.toJS());
const job = cronJob.spec.jobTemplate.spec;
const pod = job.template.spec;
const [main] = pod.containers;
const user: number = pod.securityContext.runAsUser;
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

/**
 * The pod as a cluster starts it: the command and the settings of the manifest, as its user, on a root file system that
 * is read-only, with a key that root owns. Its volume is the working directory of the place.
 */
async function preparePod(baseUrl: string) {
  const place = await emptyPlace();
  const variables = main.env.map(({ name, value }: { name: string; value: string }) => [name, value]);
  const env: Record<string, string> = { ...Object.fromEntries(variables), FILINGS_BASE_URL: baseUrl };
  const [merged, upper, scratch] = ['merged', 'upper', 'scratch'].map((name) => join(place.home, name));
  const inside = (path: string) => join(place.home, 'upper', path);
  for (const folder of [merged, scratch, inside('data'), inside('opt/bin')]) {
    await mkdir(folder as string, { recursive: true });
  }
  await place.write(inside('etc/filings/accessions.txt'), list.data['accessions.txt'], 0o644);
  await chown(await place.write(inside(env.FILINGS_API_KEY_FILE ?? ''), 'a-key\n', 0o440), 0, user);
  await chown(place.path, user, user);
  for (const name of ['bin', 'dist', 'package.json']) {
    await cp(join(ROOT, name), inside(`opt/filings/${name}`), { recursive: true });
  }
  await cp(NODE, inside('opt/bin/node'));
  // npm makes a link here whose target it makes executable.
  await place.write(inside('opt/bin/filings'), "#!/usr/bin/env node\nrequire('/opt/filings/bin/filings.js');\n", 0o755);
  const script = `mount -t overlay overlay -o lowerdir=/,upperdir='${upper}',workdir='${scratch}' '${merged}' &&
    mount -o remount,ro '${merged}' && mount --bind '${place.path}' '${merged}${main.workingDir}' && cd '${merged}' &&
    exec chroot . setpriv --reuid=${user} --regid=${user} --clear-groups --no-new-privs \\
      sh -c 'cd ${main.workingDir} && unset HOME && exec "$@"' pod "$@"`;
  // Otherwise the shell would read the start-up file of root's home.
  const all = { ...env, HOME: place.home, PATH: '/opt/bin:/usr/sbin:/usr/bin:/sbin:/bin' };
  // Each program executes the next one, so that a signal reaches the command.
  const start = () => started(['unshare', '--mount', 'bash', '-c', script, 'pod', ...main.command], { env: all });
  return { ...place, start };
}

// Only root can mount.
test.runIf(process.geteuid?.() === 0)(
  'the container mirrors into its volume, and after SIGTERM the next one resumes a large file',
  async () => {
    const [one, two] = [accession(1), accession(2)];
    const { starts, instead, hasStalled } = stallingOnce(one, 'ex2.htm');
    const files = { 'ex1.htm': 'one', 'other.htm': 'not chosen' };
    const archive = await startArchive({ [one]: { ...files, 'ex2.htm': '' }, [two]: files }, { instead, sizes: false });
    const { start, at, read, names } = await preparePod(archive.url);

    const first = start();
    await Promise.race([until(() => hasStalled(at(`exhibits/${one}`))), first.ended]);
    first.kill('SIGTERM');
    const { exitCode, stdout, stderr } = await first.ended;
    expect([exitCode, stdout.length], stderr).toEqual([143, 0]);

    expect(await start().ended).toMatchObject({ exitCode: 0, stderr: '' });
    expect(starts).toEqual([undefined, SENT_BYTES]);
    expect((await read(`exhibits/${one}/ex2.htm`)).equals(LARGE)).toBe(true);
    expect(await readdir(at(`exhibits/${two}`))).toEqual(['SHA256SUMS', 'ex1.htm']);
    expect(await names()).toEqual(['exhibits', 'exhibits.done', 'failed.txt', 'report.jsonl']);
  },
);
