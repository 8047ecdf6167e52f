// Runs `__complete`, which the completion scripts call at each TAB with the words up to the cursor. Prints a line for
// each word that can stand there: the word, a tab and a description. If it prints nothing, for example because the word
// is a path, the shell completes paths itself.
import { PassThrough } from 'node:stream';
import { parseAccession } from '../service/accession.ts';
import { withinDeadline } from '../session/deadline.ts';
import { FLAG_SETTINGS } from '../settings/table.ts';
import type { ArgumentSpec, CommandSpec, Flags } from '../spec/command.ts';
import { formatHelpLine, HELP_OPTION, type NamedOption, toNamedOptions } from '../spec/option.ts';
import { write } from '../stdio/output.ts';
import { printable } from '../terminal/printable.ts';
import { deriveWorld, type World } from '../world.ts';
import { COMMANDS, HELP_COMMAND, PROGRAM } from './catalogue.ts';

type Candidate = readonly [word: string, help: string];

/** Completes the last of the words. Ignores all errors, because a message would appear in the middle of the line. */
export async function complete(words: readonly string[], world: World) {
  const current = words.at(-1) ?? '';
  const candidates = await findCandidates(words.slice(0, -1), current, world).catch(() => []);
  const lines = candidates.filter(([word]) => word.startsWith(current)).map(([word, help]) => `${word}\t${help}\n`);
  await write(world.stdout, lines.join('')).catch(() => {});
  return 0;
}

/** They need not begin with `current`, which only shows what is being typed: an option, `--option=value`, or else. */
async function findCandidates(words: readonly string[], current: string, world: World): Promise<readonly Candidate[]> {
  let spec: CommandSpec = { ...PROGRAM, children: [...COMMANDS, HELP_COMMAND] };
  let isHelpCommand = false;
  /** The word after an option such as `--profile` is its value. */
  let pending: NamedOption | undefined;
  // Unknown options are left out, because the line is still being typed.
  const args: string[] = [];
  const flags: Record<string, string | true> = {};
  for (const word of words) {
    const [, flag = word, value] = /^(--[^=]+)=(.*)$/s.exec(word) ?? [];
    const option = findOption(spec, flag);
    const child: CommandSpec | undefined = spec.children?.find(({ name }) => name === word);
    if (pending) flags[pending.name] = word;
    else if (child) [spec, isHelpCommand] = [child, isHelpCommand || child === HELP_COMMAND];
    else if (!word.startsWith('-')) args.push(word);
    else if (option) flags[option.name] = value ?? true;
    pending = !pending && value === undefined && option?.value !== undefined ? option : undefined;
  }
  if (pending) return suggestValues(pending.kind, args, flags, world);
  const [, flag = ''] = /^(--[^=]+)=/.exec(current) ?? [];
  if (flag !== '') {
    const values = await suggestValues(findOption(spec, flag)?.kind ?? {}, args, flags, world);
    return values.map(([word, help]) => [`${flag}=${word}`, help]);
  }
  if (current.startsWith('-')) return listOptions(spec).map((option) => [option.flag, formatHelpLine(option)]);
  if (spec.children) return spec.children.map(({ name, summary }) => [name, summary]);
  // `filings help list` takes no argument of `list`.
  if (isHelpCommand) return [];
  const last = spec.arguments?.at(-1);
  const argument = spec.arguments?.[args.length] ?? (last?.variadic ? last : undefined);
  return argument ? suggestValues(argument, args, flags, world) : [];
}

function listOptions({ options }: CommandSpec): readonly NamedOption[] {
  return [...toNamedOptions(options), ...FLAG_SETTINGS, HELP_OPTION];
}

function findOption(spec: CommandSpec, word: string): NamedOption | undefined {
  return listOptions(spec).find(({ flag, short }) => word === flag || word === `-${short}`);
}

/** Returns the values for an argument, or for the `kind` of an option. There are none for a local path. */
async function suggestValues(
  { choices, examples, completes }: Pick<ArgumentSpec, 'choices' | 'examples' | 'completes'>,
  [first, ...others]: readonly string[],
  flags: Flags,
  world: World,
): Promise<readonly Candidate[]> {
  // In `config set KEY VALUE`, KEY is the setting whose value is completed. Every setting with choices is a flag, too.
  const setting = completes === 'setting value' ? FLAG_SETTINGS.find(({ flag }) => flag === `--${first}`) : undefined;
  const fixed = choices ?? examples ?? setting?.kind.choices ?? [];
  const lookUp = async (limited: World) => {
    if (completes === 'profile') return (await import('../settings/config-file.ts')).readProfileNames(flags, limited);
    return completes === 'listed file' && first ? requestFileNames(first, { ...flags, retries: '0' }, limited) : [];
  };
  // A TAB must neither ask for a key nor print a message.
  const stdin = new PassThrough().end();
  const stderr = new PassThrough().resume();
  // As if the user had typed --deadline 2s. If it passes, this throws, and nothing is offered.
  const names = await withinDeadline({ deadline: '2s' }, deriveWorld(world, { stdin, stderr }), lookUp);
  // Control characters would reach the terminal, and a name such as `-f` would be read as an option. Nobody wants to
  // type one of the `others` twice.
  const offered = names.filter((name) => printable(name) === name && !/^-/.test(name) && !others.includes(name));
  return [...fixed, ...offered].map((word) => [word, '']);
}

/** Sends no request if the key comes from a program, which a TAB must not run. */
async function requestFileNames(accession: string, flags: Flags, world: World): Promise<readonly string[]> {
  const { listFiles, openSession } = await import('../session/session.ts');
  const { resolveSettings } = await import('../settings/resolve.ts');
  const resolved = await resolveSettings(flags, world);
  if (resolved.settings.keySource?.kind === 'command') return [];
  const session = await openSession(flags, world, { resolved });
  try {
    return (await listFiles(session, parseAccession(accession), [], world.interrupt)).files.map(
      (file) => file.file_name,
    );
  } finally {
    await session.close();
  }
}
