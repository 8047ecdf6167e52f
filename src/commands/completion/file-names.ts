import { PassThrough, Writable } from 'node:stream';
import { parseAccession } from '../../service/accession.ts';
import { withinDeadline } from '../../session/deadline.ts';
import { openSession } from '../../session/session.ts';
import { resolveSettings } from '../../settings/resolve.ts';
import type { CommandModule, Flags, ParseLine } from '../../spec/command.ts';
import { write } from '../../stdio/output.ts';
import { printable } from '../../terminal/printable.ts';
import { derived, type World } from '../../world.ts';

/** Of the filing that a `download` line names. Whatever fails, it says nothing: a person is typing. */
export function fileNames(parse: ParseLine): CommandModule {
  return {
    async run({ args }, world) {
      const names = await namesFor(args, parse, world).catch(() => []);
      await write(world.stdout, names.map((name) => `${name}\n`).join('')).catch(() => {});
      return 0;
    },
  };
}

/** Without those on the line, and those that a terminal would act on or that would be options. */
async function namesFor(words: readonly string[], parse: ParseLine, world: World): Promise<readonly string[]> {
  const line = parse(words);
  if (line.kind !== 'run' || line.name !== 'download') return [];
  const [accession, ...typed] = line.invocation.args;
  if (accession === undefined) return [];
  const flags = { ...line.invocation.flags, retries: '0', progress: 'none', deadline: '2s' };
  // Nobody is asked or told.
  const stdin = new PassThrough().end();
  const stderr = new Writable({ write: (_chunk, _encoding, done) => done() });
  const names = await withinDeadline(flags, derived(world, { stdin, stderr }), (bounded) =>
    listed(flags, bounded, accession),
  );
  return [...new Set(names)].filter((name) => /^[^-]/.test(name) && printable(name) === name && !typed.includes(name));
}

/** One request, unless a program, a person or stdin would be asked for a secret. */
async function listed(flags: Flags, world: World, accession: string): Promise<readonly string[]> {
  const resolved = await resolveSettings(flags, world);
  const { key, token } = resolved.settings;
  const isAsked = [key, token].some((source) => source?.kind === 'file' && source.path === '-');
  if (isAsked || key?.kind === 'command') return [];
  const session = await openSession(flags, world, { resolved });
  try {
    const { files } = await session.client.listPage(parseAccession(accession), [], session.signal);
    return files.map(({ file_name }) => file_name);
  } finally {
    await session.close();
  }
}
