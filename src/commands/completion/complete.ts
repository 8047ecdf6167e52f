import { PassThrough, Writable } from 'node:stream';
import { withinDeadline } from '../../session/deadline.ts';
import type { CommandSpec } from '../../spec/command.ts';
import { write } from '../../stdio/output.ts';
import { printable } from '../../terminal/printable.ts';
import { deriveWorld, type World } from '../../world.ts';
import { type Completions, completionsFor } from './completions.ts';
import { SHELLS } from './shells.ts';

/**
 * Completes a word at TAB: `filings __complete SHELL LINE`. Returns 0. Errors print nothing, because a person is typing
 * on the terminal.
 */
export async function complete(argv: readonly string[], commands: readonly CommandSpec[], world: World) {
  const output = await createOutput(argv, commands, world).catch(() => '');
  await write(world.stdout, output).catch(() => {});
  return 0;
}

async function createOutput([name = '', ...args]: readonly string[], commands: readonly CommandSpec[], world: World) {
  const shell = Object.hasOwn(SHELLS, name) ? SHELLS[name] : undefined;
  if (shell === undefined) return '';
  const line = shell.read(args, world.env);
  // The output consists of lines, so a word with a line break or a control character cannot be completed.
  if (line.words.some((word) => printable(word) !== word)) return '';
  const completions = completionsFor(line.words, commands);
  const { prefix, lookUp } = completions;
  const isPath = lookUp === 'file' || lookUp === 'directory';
  const names = isPath || line.isExpanded ? [] : await lookUpNames(completions, world).catch(() => []);
  const candidates = [...completions.candidates, ...names.map((text) => ({ text, help: '' }))];
  const wholeWords = candidates.map(({ text, help }) => ({ text: prefix + text, help }));
  return shell.print({ kind: isPath ? lookUp : 'words', candidates: wholeWords, prefix }, line);
}

/** Returns the names in the config file or at the service, except names with control characters. */
async function lookUpNames({ lookUp, args, optionValues }: Completions, world: World): Promise<readonly string[]> {
  const [accession, ...otherArgs] = args;
  const flags = { ...optionValues, retries: '0', progress: 'none', deadline: '2s' };
  // An empty stdin and a silent stderr: a TAB must not ask for a key, and not print.
  const stdin = new PassThrough().end();
  const stderr = new Writable({ write: (_chunk, _encoding, done) => done() });
  const names = await withinDeadline(flags, deriveWorld(world, { stdin, stderr }), async (bounded) => {
    if (lookUp === 'profile') return (await import('../../settings/config-file.ts')).readProfileNames(flags, bounded);
    if (lookUp !== 'name' || accession === undefined) return [];
    const names = await (await import('./file-names.ts')).fileNames(flags, bounded, accession);
    return names.filter((name) => !otherArgs.includes(name));
  });
  // A name that begins with a dash would be an option.
  return [...new Set(names)].filter((name) => /^[^-]/.test(name) && printable(name) === name);
}
