import { PassThrough, Writable } from 'node:stream';
import { parseAccession } from '../../service/accession.ts';
import { withinDeadline } from '../../session/deadline.ts';
import { openSession } from '../../session/session.ts';
import { resolveSettings } from '../../settings/resolve.ts';
import type { Settings } from '../../settings/settings.ts';
import type { CommandModule, Flags, ParseLine } from '../../spec/invocation.ts';
import { write } from '../../stdio/output.ts';
import { printable } from '../../terminal/printable.ts';
import { derived, type World } from '../../world.ts';

const DEADLINE = '2s';
/** More than anybody chooses from. */
const MOST_NAMES = 5000;

/** Prints the files of the filing that a `download` line names, one a line. Whatever fails, it says nothing: a person is typing. */
export function fileNames(parse: ParseLine): CommandModule {
  return {
    async run({ args }, world) {
      const names = await namesFor(args, parse, world).catch(() => []);
      await write(world.stdout, names.map((name) => `${name}\n`).join('')).catch(() => {});
      return 0;
    },
  };
}

/** Each name once, without those on the line, and those that a terminal would act on or that would be options. */
async function namesFor(words: readonly string[], parse: ParseLine, world: World): Promise<readonly string[]> {
  const line = parse(words);
  if (line.kind !== 'run' || line.command.name !== 'download') return [];
  const { args, options, flags } = line.invocation;
  const [accession, ...typed] = args;
  const { all, include, exclude, input } = options as Readonly<Record<string, unknown>>;
  const chosen =
    all || input !== undefined || [include, exclude].some((globs) => Array.isArray(globs) && globs.length > 0);
  if (accession === undefined || chosen) return [];
  const names = await listed(accession, flags, silent(world));
  return [...new Set(names)]
    .filter((name) => /^[^-]/.test(name) && printable(name) === name && !typed.includes(name))
    .slice(0, MOST_NAMES);
}

/** One request, unless a program, a person or stdin would be asked for a secret. */
async function listed(accession: string, given: Flags, world: World): Promise<readonly string[]> {
  const { verbose: _, ...flags }: Flags = { ...given, quiet: true, retries: '0', progress: 'none', deadline: DEADLINE };
  return withinDeadline(flags, world, (bounded) => listedBy(flags, bounded, accession));
}

async function listedBy(flags: Flags, world: World, accession: string): Promise<readonly string[]> {
  const resolved = await resolveSettings(flags, world);
  if (asksForSecret(resolved.settings)) return [];
  const session = await openSession(flags, world, { resolved });
  try {
    const { files } = await session.client.listPage(parseAccession(accession), [], session.signal);
    return files.map(({ file_name }) => file_name);
  } finally {
    await session.close();
  }
}

function asksForSecret({ key, token }: Settings): boolean {
  const files = [key, token].map((source) => (source?.kind === 'file' ? source.path : undefined));
  return key?.kind === 'command' || files.includes('-');
}

/** The world without anybody to ask or to tell. */
function silent(world: World): World {
  const stdin = new PassThrough();
  stdin.end();
  const stderr = new Writable({ write: (_chunk, _encoding, done) => done() });
  return derived(world, { stdin, stderr });
}
