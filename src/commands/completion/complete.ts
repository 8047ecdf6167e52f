import { PassThrough, Writable } from 'node:stream';
import { withinDeadline } from '../../session/deadline.ts';
import type { CommandSpec } from '../../spec/command.ts';
import { write } from '../../stdio/output.ts';
import { printable } from '../../terminal/printable.ts';
import { derived, type World } from '../../world.ts';
import { type Completions, completionsFor } from './completions.ts';
import { SHELLS } from './shells.ts';

/**
 * Answers a TAB: `filings __complete SHELL LINE`. Returns 0. Whatever fails, nothing is said, because a person is typing
 * on the terminal.
 */
export async function complete(argv: readonly string[], commands: readonly CommandSpec[], world: World) {
  const answer = await answerTo(argv, commands, world).catch(() => '');
  await write(world.stdout, answer).catch(() => {});
  return 0;
}

async function answerTo([name = '', ...args]: readonly string[], commands: readonly CommandSpec[], world: World) {
  const shell = Object.hasOwn(SHELLS, name) ? SHELLS[name] : undefined;
  if (shell === undefined) return '';
  const line = shell.read(args, world.env);
  // The answer is lines of text.
  if (line.words.some((word) => printable(word) !== word)) return '';
  const found = completionsFor(line.words, commands);
  const { prefix, lookUp } = found;
  const isPath = lookUp === 'file' || lookUp === 'directory';
  const names = isPath || line.isExpanded ? [] : await lookedUp(found, world).catch(() => []);
  const candidates = [...found.candidates, ...names.map((text) => ({ text, help: '' }))];
  const whole = candidates.map(({ text, help }) => ({ text: prefix + text, help }));
  return shell.print({ kind: isPath ? lookUp : 'words', candidates: whole, prefix }, line);
}

/** Returns the names that the config file or the service knows, without those that a terminal would act on. */
async function lookedUp({ lookUp, args, given }: Completions, world: World): Promise<readonly string[]> {
  const [accession, ...typed] = args;
  const flags = { ...given, retries: '0', progress: 'none', deadline: '2s' };
  // Nobody is asked, and nothing is printed.
  const stdin = new PassThrough().end();
  const stderr = new Writable({ write: (_chunk, _encoding, done) => done() });
  const names = await withinDeadline(flags, derived(world, { stdin, stderr }), async (bounded) => {
    if (lookUp === 'profile') return (await import('../../settings/config-file.ts')).profileNames(flags, bounded);
    if (lookUp !== 'name' || accession === undefined) return [];
    const found = await (await import('./file-names.ts')).fileNames(flags, bounded, accession);
    return found.filter((name) => !typed.includes(name));
  });
  // A name that begins with a dash would be an option.
  return [...new Set(names)].filter((name) => /^[^-]/.test(name) && printable(name) === name);
}
