import { readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until, workplace } from '../../cli/program.ts';
import { head, rangeStart, sendFile } from '../../servers/answers.ts';
import { type Instead, startArchive } from '../../servers/archive.ts';
import { FILES, FILINGS, NUMBERS, PROGRAM, programAt, treeOf } from './mirrored.ts';
import { jobOver, type SlurmCluster, startCluster, taskAgain } from './slurm-cluster.ts';

const SCRIPT = join(import.meta.dirname, '../../../docs/recipes/slurm/mirror.sbatch');
const SHARDS = 8;
/** `split -n r/K/N` distributes lines in turn. K starts at 1. */
const inShard = (shard: number) => NUMBERS.filter((_, at) => (at % SHARDS) + 1 === shard);

// Only root can start the daemons.
describe.runIf(process.getuid?.() === 0)('mirror.sbatch', () => {
  let cluster: SlurmCluster;
  beforeAll(async () => {
    cluster = await startCluster();
  });
  afterAll(() => cluster?.stop());

  async function setUp(instead?: Instead) {
    const archive = await startArchive(FILINGS, instead && { instead });
    const place = await workplace();
    await writeFile(join(place.path, 'accessions.txt'), NUMBERS.map((number) => `${number}\n`).join(''));
    const env = { ...archive.env, HOME: place.home, PATH: await programAt(place.home) };
    const submit = (array: readonly string[], more: readonly string[] = [], extra: Record<string, string> = {}) => {
      const line = ['sbatch', '--parsable', ...array, SCRIPT, 'accessions.txt', 'mirror', '--all', ...more];
      return cluster.run(line, { env: { ...env, ...extra }, cwd: place.path });
    };
    const own = async (task: number, kind: string) =>
      (await place.read(`mirror.tasks/${task}-of-${SHARDS}.${kind}`)).toString();
    return { archive, place, env, submit, own };
  }

  const over = (job: string) => jobOver(cluster, job);
  const requeued = (task: string) => taskAgain(cluster, task);
  const each = (state: string, exitCode: string) =>
    Array.from({ length: SHARDS }, (_, at) => ({ index: `${at + 1}`, state, exitCode, restarts: 0 }));

  test('mirrors the same tree with eight tasks as one run, and requests each file once', async () => {
    const { archive, place, submit, own } = await setUp();
    const job = await submit([], ['--checksums']);
    expect(await over(job)).toEqual(each('COMPLETED', '0:0'));
    const asked = archive.asked();
    expect(new Set(asked).size).toBe(asked.length);
    expect(asked).toHaveLength(NUMBERS.length * (1 + FILES.length));
    const one = ['download', '-i', 'accessions.txt', '--all', '--checksums', '-d', 'one'];
    expect(await place.filings(one, archive.env)).toMatchObject({ exitCode: 0 });
    expect(await treeOf(join(place.path, 'mirror'))).toEqual(await treeOf(join(place.path, 'one')));
    for (let task = 1; task <= SHARDS; task += 1) {
      const done = (await own(task, 'done')).trimEnd().split('\n');
      expect(done.map((line) => line.split('\t')[0]).sort()).toEqual(inShard(task));
    }
    // The same job again has nothing to download.
    const before = asked.length;
    expect(await over(await submit([], ['--checksums']))).toEqual(each('COMPLETED', '0:0'));
    expect(archive.asked()).toHaveLength(before);
  });

  test('resumes a large file at the same byte after a task was requeued', async () => {
    const SHARD = 3;
    const [large = ''] = inShard(SHARD);
    const body = Buffer.alloc(6_000_000, 'a large exhibit ');
    const half = 2_500_000;
    const starts: (number | undefined)[] = [];
    const { archive, place, submit, own } = await setUp((socket, { accession: of, name, request, before }) => {
      if (of !== large || name !== 'ex99.htm') return false;
      starts.push(rangeStart(request));
      if (before > 0) sendFile(socket, request, body, '"large"');
      else socket.write(head(200, { 'Content-Length': body.length, ETag: '"large"' }));
      if (before === 0) socket.write(body.subarray(0, half));
      return true;
    });
    // The program needs a second to end, as on a slow disk. The end of the script must not kill it.
    await programAt(place.home, `trap : TERM\n${PROGRAM} "$@"\ncode=$?; sleep 1; echo $code >> ended; exit $code`);
    // A single task of the array, as a user submits it requeued.
    const job = await submit([`--array=${SHARD}`], ['--jobs', '1']);
    const directory = join(place.path, 'mirror', large);
    await until(async () => {
      const names = await readdir(directory).catch(() => []);
      const part = names.find((name) => name.endsWith('.filings-part'));
      return part !== undefined && (await stat(join(directory, part))).size === half;
    });
    await cluster.run(['scontrol', 'requeue', `${job}_${SHARD}`]);
    await requeued(`${job}_${SHARD}`);
    expect(await over(job)).toEqual([{ index: `${SHARD}`, state: 'COMPLETED', exitCode: '0:0', restarts: 1 }]);
    expect(starts).toEqual([undefined, half]);
    expect((await place.read(`mirror/${large}/ex99.htm`)).equals(body)).toBe(true);
    expect((await readdir(directory)).sort()).toEqual(FILES);
    expect((await place.read('ended')).toString()).toBe('143\n0\n');
    expect((await own(SHARD, 'failed')).toString()).toBe('');
    const files = archive.asked().filter((asked) => asked.includes('/') && asked !== `${large}/ex99.htm`);
    expect(new Set(files).size).toBe(files.length);
    expect([...new Set(archive.asked().map((asked) => asked.split('/')[0]))].sort()).toEqual(inShard(SHARD));
  });

  // The job ID of the last task is that of the array. A requeue by this ID would start all tasks again.
  test('requeues only the task that exits with 7, and ends it with 75 after RESTARTS requeues', async () => {
    const [number = ''] = inShard(SHARDS);
    const { archive, submit } = await setUp((socket, { accession: of, name }) => {
      if (of !== number || name !== 'primary.htm') return false;
      socket.write(head(503, { 'Content-Length': 0 }));
      return true;
    });
    const job = await submit([], ['--retries', '0'], { RESTARTS: '1' });
    await requeued(`${job}_${SHARDS}`);
    const others = each('COMPLETED', '0:0').slice(0, -1);
    expect(await over(job)).toEqual([
      ...others,
      { index: `${SHARDS}`, state: 'FAILED', exitCode: '75:0', restarts: 1 },
    ]);
    expect(archive.asked().filter((asked) => asked === `${number}/primary.htm`)).toHaveLength(2);
  });

  test('does not requeue a task that exits with 3, and --failed lists the failed file', async () => {
    const [number = ''] = inShard(5);
    let isThere = false;
    const { place, submit, own, archive } = await setUp((socket, { accession: of, name }) => {
      if (of !== number || name !== 'form4.xml' || isThere) return false;
      socket.write(`${head(404, { 'Content-Length': 21 })}{"title":"Not Found"}`);
      return true;
    });
    const ended = await over(await submit([]));
    expect(ended).toEqual(
      each('COMPLETED', '0:0').map((task) =>
        task.index === '5' ? { ...task, state: 'FAILED', exitCode: '3:0' } : task,
      ),
    );
    expect(await own(5, 'failed')).toBe(`${number} form4.xml\n`);
    expect(archive.asked().filter((asked) => asked === `${number}/form4.xml`)).toHaveLength(1);
    isThere = true;
    const rest = ['download', '-i', `mirror.tasks/5-of-${SHARDS}.failed`, '-d', 'mirror'];
    expect(await place.filings(rest, archive.env)).toMatchObject({ exitCode: 0 });
    expect((await readdir(join(place.path, 'mirror', number))).sort()).toEqual(FILES);
  });

  test('cancels the tasks that have not started if one exits with 4', async () => {
    const { archive, submit } = await setUp((socket) => {
      socket.write(head(401, { 'Content-Length': 0 }));
      return true;
    });
    const ended = await over(await submit([`--array=1-${SHARDS}%1`]));
    expect(ended.map(({ state, exitCode }) => `${state} ${exitCode}`)).toEqual(['FAILED 4:0', 'CANCELLED 0:0']);
    expect(inShard(1)).toEqual(expect.arrayContaining([...archive.asked()]));
  });
});
