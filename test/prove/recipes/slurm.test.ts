import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until, workplace } from '../../cli/program.ts';
import { head } from '../../servers/answers.ts';
import { type Instead, startArchive } from '../../servers/archive.ts';
import { FILES, FILINGS, LARGE, NUMBERS, PROGRAM, programAt, SENT_BYTES, stallingOnce, treeOf } from './mirrored.ts';
import { startCluster } from './slurm-cluster.ts';

const SCRIPT = join(import.meta.dirname, '../../../docs/recipes/slurm/mirror.sbatch');
const SHARDS = 8;
/** `split -n r/K/N` distributes lines in turn. K starts at 1. */
const inShard = (shard: number) => NUMBERS.filter((_, at) => (at % SHARDS) + 1 === shard);
const COMPLETED = Array.from({ length: SHARDS }, (_, at) => `${at + 1} COMPLETED 0 0:0`);

// Only root can start the daemons.
describe.runIf(process.getuid?.() === 0)('mirror.sbatch', () => {
  let cluster: Awaited<ReturnType<typeof startCluster>>;
  beforeAll(async () => {
    cluster = await startCluster();
  });
  afterAll(() => cluster?.stop());

  /** A user with a list of filings. `submit` submits the script with some options of sbatch, and returns its job. */
  async function setUp(instead?: Instead) {
    const [archive, place] = [await startArchive(FILINGS, instead && { instead }), await workplace()];
    await place.write('accessions.txt', NUMBERS.map((number) => `${number}\n`).join(''));
    const env = { ...archive.env, HOME: place.home, PATH: await programAt(place) };
    const submit = (options: readonly string[], more: readonly string[], extra = {}) => {
      const line = ['sbatch', '--parsable', ...options, SCRIPT, 'accessions.txt', 'mirror', '--all', ...more];
      return cluster.run(line, { env: { ...env, ...extra }, cwd: place.path });
    };
    return { archive, place, ...place, submit };
  }

  test('mirrors the same tree with eight tasks as one run, and requests each file once', async () => {
    const { archive, filings, at, read, submit } = await setUp();
    expect(await cluster.over(await submit([], ['--checksums']))).toEqual(COMPLETED);
    const asked = [...archive.asked()];
    expect([asked.length, new Set(asked).size]).toEqual(Array(2).fill(NUMBERS.length * (1 + FILES.length)));
    const one = ['download', '-i', 'accessions.txt', '--all', '--checksums', '-d', 'one'];
    expect(await filings(one, archive.env)).toMatchObject({ exitCode: 0 });
    expect(await treeOf(at('mirror'))).toEqual(await treeOf(at('one')));
    for (let task = 1; task <= SHARDS; task += 1) {
      const done = `${await read(`mirror.tasks/${task}-of-${SHARDS}.done`)}`;
      expect([...done.matchAll(/^\S+/gm)].map(String).sort()).toEqual(inShard(task));
    }
    // The same job again has nothing to download.
    const before = archive.asked().length;
    expect(await cluster.over(await submit([], ['--checksums']))).toEqual(COMPLETED);
    expect(archive.asked()).toHaveLength(before);
  });

  test('resumes a large file at the same byte after a task was requeued', async () => {
    const [large = ''] = inShard(3);
    const { starts, instead, hasStalled } = stallingOnce(large, 'ex99.htm');
    const { place, at, read, submit } = await setUp(instead);
    // The program needs a second to end, as on a slow disk. The end of the script must not kill it.
    await programAt(place, `trap : TERM\n${PROGRAM} "$@"\ncode=$?; sleep 1; echo $code >> ended; exit $code`);
    // A single task of the array, as a user submits it again.
    const task = `${await submit(['--array=3'], ['--jobs', '1'])}_3`;
    await until(() => hasStalled(at(`mirror/${large}`)));
    await cluster.run(['scontrol', 'requeue', task]);
    await cluster.requeued(task);
    expect(await cluster.over(task)).toEqual(['3 COMPLETED 1 0:0']);
    expect([starts, `${await read('ended')}`]).toEqual([[undefined, SENT_BYTES], '143\n0\n']);
    expect((await read(`mirror/${large}/ex99.htm`)).equals(LARGE)).toBe(true);
    expect((await readdir(at('mirror'))).sort()).toEqual(inShard(3));
  });

  // The job ID of the last task is that of the array. A requeue by this ID would start all tasks again.
  test('requeues only the task that exits with 7, RESTARTS times, and none that exits with 3', async () => {
    const [[missing], [unavailable]] = [inShard(5), inShard(SHARDS)];
    const { archive, read, submit } = await setUp((socket, { accession: of, name }) => {
      const status = name !== 'form4.xml' ? 0 : of === missing ? 404 : of === unavailable ? 503 : 0;
      if (status > 0) socket.write(head(status, { 'Content-Length': 0 }));
      return status > 0;
    });
    const array = await submit([], ['--retries', '0'], { RESTARTS: '1' });
    await cluster.requeued(`${array}_${SHARDS}`);
    expect(await cluster.over(array)).toEqual([
      ...COMPLETED.slice(0, 4),
      '5 FAILED 0 3:0',
      ...COMPLETED.slice(5, 7),
      '8 FAILED 1 75:0',
    ]);
    expect(`${await read(`mirror.tasks/5-of-${SHARDS}.failed`)}`).toBe(`${missing} form4.xml\n`);
    const asked = archive.asked().filter((each) => each.endsWith('form4.xml'));
    expect(asked.filter((each) => each.startsWith(`${missing}`))).toHaveLength(1);
    expect(asked.filter((each) => each.startsWith(`${unavailable}`))).toHaveLength(2);
  });

  test('cancels the tasks that have not started if one exits with 4', async () => {
    const { archive, submit } = await setUp((socket) => {
      socket.write(head(401, { 'Content-Length': 0 }));
      return true;
    });
    const ended = await cluster.over(await submit([`--array=1-${SHARDS}%1`], []));
    expect(ended).toEqual([expect.stringMatching(/^1 FAILED 0 4:0$/), expect.stringMatching(/ CANCELLED 0 0:0$/)]);
    expect(inShard(1)).toEqual(expect.arrayContaining([...archive.asked()]));
  });
});
