import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { workplace } from '../../cli/program.ts';
import { head } from '../../servers/answers.ts';
import { type Instead, startArchive } from '../../servers/archive.ts';
import type { SeenRequest } from '../../servers/scripted.ts';
import { FILES, FILINGS, NUMBERS } from './forty-filings.ts';
import { programAt, treeOf } from './mirrored.ts';
import { noHosts, startHosts } from './ssh-hosts.ts';

const SCRIPT = join(import.meta.dirname, '../../../docs/recipes/parallel/mirror.sh');
const LISTS = 4;

const reason = noHosts();
if (reason !== '') process.stdout.write(`The recipe of GNU parallel is not run: ${reason}\n`);

/** The host that asks: each has a key of its own. */
const hostOf = ({ headers }: SeenRequest) => /key-(n\d)/.exec(headers.authorization ?? '')?.[1];

async function setUp(instead?: Instead) {
  const asking = new Set<string | undefined>();
  const archive = await startArchive(FILINGS, {
    instead(socket, asked) {
      asking.add(hostOf(asked.request));
      return instead?.(socket, asked);
    },
  });
  const place = await workplace();
  const shared = { ...archive.env, PATH: await programAt(place.home), XDG_CONFIG_HOME: place.home };
  const hosts = await startHosts({
    n1: { ...shared, FILINGS_API_KEY: 'key-n1' },
    n2: { ...shared, FILINGS_API_KEY: 'key-n2' },
  });
  await writeFile(join(place.path, 'accessions.txt'), NUMBERS.map((number) => `${number}\n`).join(''));
  await mkdir(join(place.path, 'lists'));
  for (let list = 0; list < LISTS; list += 1) {
    const some = NUMBERS.filter((_, at) => at % LISTS === list);
    await writeFile(join(place.path, 'lists', `${list}.txt`), some.map((number) => `${number}\n`).join(''));
  }
  const env = { ...hosts.env, HOSTS: 'n1,n2', LINES_EACH: '5' };
  const run = (more: string, extra: Record<string, string> = {}) =>
    place.shell(`'${SCRIPT}' mirror --all ${more}`, { ...env, ...extra }, { timeout: 580_000 });
  return {
    archive,
    place,
    hosts,
    asking,
    blocks: (more = '') => run(`${more} < accessions.txt`),
    lists: (more = '') => run(more, { LISTS: 'lists' }),
    joblog: async () => (await place.read('mirror.jobs/joblog')).toString(),
  };
}

/** The mirror is what one run on one machine makes. */
async function expectRightTree({ place, archive }: Awaited<ReturnType<typeof setUp>>, more: readonly string[] = []) {
  const one = ['download', '-i', 'accessions.txt', '--all', '-d', 'one', ...more];
  expect(await place.filings(one, archive.env)).toMatchObject({ exitCode: 0 });
  const tree = await treeOf(join(place.path, 'mirror'));
  expect(tree).toEqual(await treeOf(join(place.path, 'one')));
  expect(Object.keys(tree).length).toBeGreaterThanOrEqual(NUMBERS.length * FILES.length);
}

describe.skipIf(reason !== '')('mirror.sh', () => {
  it('two hosts share the blocks of a list, make the tree of one, and ask for nothing twice', async () => {
    const setting = await setUp();
    const { archive, asking, blocks, joblog } = setting;
    expect(await blocks('--checksums')).toMatchObject({ exitCode: 0 });
    expect(asking).toEqual(new Set(['n1', 'n2']));
    const asked = [...archive.asked()];
    expect(new Set(asked).size).toBe(asked.length);
    expect((await joblog()).trimEnd().split('\n')).toHaveLength(1 + NUMBERS.length / 5);
    await expectRightTree(setting, ['--checksums']);
    const before = archive.asked().length;
    expect(await blocks('--checksums')).toMatchObject({ exitCode: 0 });
    expect(archive.asked()).toHaveLength(before);
  });

  it('a host that dies in the middle loses nothing: the other goes on, and what stands is not asked for again', async () => {
    const got: string[] = [];
    let died: Promise<void> | undefined;
    const setting = await setUp((_, { accession, name, request }) => {
      if (hostOf(request) !== 'n2' || name === undefined) return false;
      // With one job it asks for a file when the one before stands.
      if (got.length < 4) got.push(`${accession}/${name}`);
      else died ??= setting.hosts.kill('n2');
      return died !== undefined;
    });
    expect(await setting.blocks('--jobs 1')).toMatchObject({ exitCode: 0 });
    expect(died).toBeDefined();
    const times = (file: string) => setting.archive.asked().filter((asked) => asked === file).length;
    expect(got.map(times)).toEqual([1, 1, 1, 1]);
    await expectRightTree(setting);
  });

  it('when every host dies it ends with 7, and the same command completes the lists when they are back', async () => {
    let asked = 0;
    let died: Promise<unknown> | undefined;
    let isOver = false;
    const setting = await setUp((_, { name }) => {
      if (name === undefined || isOver) return false;
      asked += 1;
      if (asked > 5) died ??= Promise.all(['n1', 'n2'].map((host) => setting.hosts.kill(host)));
      return died !== undefined;
    });
    const { archive, hosts, lists, place } = setting;
    const broken = await lists();
    expect(broken).toMatchObject({ exitCode: 7 });
    expect(broken.stderr).toContain('mirror: none of n1,n2 can be reached by ssh\n');
    const standing = Object.keys(await treeOf(join(place.path, 'mirror'))).filter((path) => !path.includes('/.'));
    const before = archive.asked().length;
    await died;
    isOver = true;
    for (const host of ['n1', 'n2']) await hosts.revive(host);
    expect(await lists()).toMatchObject({ exitCode: 0 });
    const again = archive.asked().slice(before);
    expect(again.filter((each) => standing.includes(each))).toEqual([]);
    await expectRightTree(setting);
  });

  it('7 is run again, and nothing but that', async () => {
    const [number = ''] = NUMBERS;
    const setting = await setUp((socket, { accession, name, before }) => {
      if (accession !== number || name !== 'primary.htm' || before > 0) return false;
      socket.write(head(503, { 'Content-Length': 0 }));
      return true;
    });
    expect(await setting.lists('--retries 0')).toMatchObject({ exitCode: 0 });
    const listings = setting.archive.asked().filter((asked) => !asked.includes('/'));
    expect(listings).toHaveLength(NUMBERS.length + 1);
    await expectRightTree(setting);
  });

  it('3 is through: not run again, and --failed has what failed', async () => {
    const [number = ''] = NUMBERS;
    const { archive, lists, place } = await setUp((socket, { accession, name }) => {
      if (accession !== number || name !== 'primary.htm') return false;
      socket.write(`${head(404, { 'Content-Length': 21 })}{"title":"Not Found"}`);
      return true;
    });
    expect(await lists()).toMatchObject({ exitCode: 3 });
    expect((await place.read('mirror.jobs/0.failed')).toString()).toBe(`${number} primary.htm\n`);
    expect(archive.asked()).toHaveLength(NUMBERS.length * (1 + FILES.length));
  });

  it('10 is for the next night', async () => {
    const setting = await setUp();
    expect(await setting.lists('--max-requests 4 --jobs 1')).toMatchObject({ exitCode: 10 });
    // A listing that is asked for ahead counts, so that the third file of a filing may wait until then.
    const files = setting.archive.asked().filter((asked) => asked.includes('/'));
    expect(files.length).toBeGreaterThanOrEqual(LISTS * 2);
    expect(files.length).toBeLessThanOrEqual(LISTS * 3);
    expect(await setting.lists()).toMatchObject({ exitCode: 0 });
    await expectRightTree(setting);
  });
});
