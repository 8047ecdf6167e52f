// Answers a TAB: takes the words up to the cursor as the shell has split them, and prints the words that can follow,
// each with a tab and its description. It prints nothing where the shell should offer paths.
import { PassThrough, Writable } from 'node:stream';
import { parseAccession } from '../../service/accession.ts';
import { withinDeadline } from '../../session/deadline.ts';
import { SHARED_OPTIONS } from '../../settings/table.ts';
import type { ArgumentSpec, CommandSpec } from '../../spec/command.ts';
import { HELP_OPTION, helpLine, type NamedOption, named } from '../../spec/option.ts';
import { write } from '../../stdio/output.ts';
import { printable } from '../../terminal/printable.ts';
import { deriveWorld, type World } from '../../world.ts';

const HELP_COMMAND: CommandSpec = { name: 'help', summary: 'show the help of a command' };

type Candidate = readonly [word: string, help: string];

/** The words before the current one. Words that do not fit are ignored, because the line is still being typed. */
interface Line {
  readonly args: readonly string[];
  readonly flags: Readonly<Record<string, string | true>>;
}

/** Completes the last word. Returns 0. Errors print nothing, because a person is typing on the terminal. */
export async function complete(words: readonly string[], commands: readonly CommandSpec[], world: World) {
  const current = words.at(-1) ?? '';
  const candidates = await candidatesFor(words.slice(0, -1), current, commands, world).catch(() => []);
  const lines = candidates.filter(([word]) => word.startsWith(current)).map(([word, help]) => `${word}\t${help}\n`);
  await write(world.stdout, lines.join('')).catch(() => {});
  return 0;
}

async function candidatesFor(
  words: readonly string[],
  current: string,
  commands: readonly CommandSpec[],
  world: World,
): Promise<readonly Candidate[]> {
  const asksHelp = words[0] === 'help';
  let spec: CommandSpec = { name: 'filings', summary: '', children: asksHelp ? commands : [...commands, HELP_COMMAND] };
  let pending: NamedOption | undefined;
  const args: string[] = [];
  const flags: Record<string, string | true> = {};
  for (const word of asksHelp ? words.slice(1) : words) {
    const [, text = word, value] = /^(--[^=]+)=(.*)$/s.exec(word) ?? [];
    const option = optionIn(spec, text);
    const child: CommandSpec | undefined = spec.children?.find(({ name }) => name === word);
    if (pending) flags[pending.name] = word;
    else if (child) spec = child;
    else if (!word.startsWith('-')) args.push(word);
    else if (option) flags[option.name] = value ?? true;
    pending = pending || value !== undefined || option?.value === undefined ? undefined : option;
  }
  const line = { args, flags };
  if (pending) return valuesOf(pending.kind, line, world);
  const [, flag = ''] = /^(--[^=]+)=/.exec(current) ?? [];
  if (flag !== '') {
    const values = await valuesOf(optionIn(spec, flag)?.kind ?? {}, line, world);
    return values.map(([word, help]) => [`${flag}=${word}`, help]);
  }
  if (current.startsWith('-')) return optionsOf(spec).map((option) => [`--${option.flag}`, helpLine(option)]);
  if (spec.children) return spec.children.map(({ name, summary }) => [name, summary]);
  if (asksHelp) return [];
  const last = spec.arguments?.at(-1);
  const argument = spec.arguments?.[args.length] ?? (last?.variadic ? last : undefined);
  return argument ? valuesOf(argument, line, world) : [];
}

function optionsOf({ options }: CommandSpec): readonly NamedOption[] {
  return [...named(options), ...SHARED_OPTIONS, HELP_OPTION];
}

function optionIn(spec: CommandSpec, word: string): NamedOption | undefined {
  return optionsOf(spec).find(({ flag, short }) => word === `--${flag}` || word === `-${short}`);
}

async function valuesOf(
  { choices, suggests, completes }: Pick<ArgumentSpec, 'choices' | 'suggests' | 'completes'>,
  { args: [first, ...others], flags }: Line,
  world: World,
): Promise<readonly Candidate[]> {
  const setting = completes === 'value' ? SHARED_OPTIONS.find(({ flag }) => flag === first) : undefined;
  const known = choices ?? suggests ?? setting?.kind.choices ?? [];
  const lookUp = async (bounded: World) => {
    if (completes === 'profile')
      return (await import('../../settings/config-file.ts')).readProfileNames(flags, bounded);
    return completes === 'name' && first ? fileNames(first, { ...flags, retries: '0' }, bounded) : [];
  };
  // An empty stdin and a silent stderr: a TAB must not ask for a key, and not print.
  const stdin = new PassThrough().end();
  const stderr = new Writable({ write: (_chunk, _encoding, done) => done() });
  const names = await withinDeadline({ deadline: '2s' }, deriveWorld(world, { stdin, stderr }), lookUp);
  // The shells quote what needs it. A character that controls the terminal, or a word like an option, is never offered.
  const offered = names.filter((name) => printable(name) === name && !/^-/.test(name) && !others.includes(name));
  return [...known, ...offered].map((word) => [word, '']);
}

/** Returns the names of a filing's files, by one request, or none if a program would have to be run for the key. */
async function fileNames(accession: string, flags: Line['flags'], world: World): Promise<readonly string[]> {
  const { listFiles, openSession } = await import('../../session/session.ts');
  const { resolveSettings } = await import('../../settings/resolve.ts');
  const resolved = await resolveSettings(flags, world);
  if (resolved.settings.keySource?.kind === 'command') return [];
  const session = await openSession(flags, world, { resolved });
  try {
    return (await listFiles(session, parseAccession(accession), [], session.signal)).files.map((one) => one.file_name);
  } finally {
    await session.close();
  }
}
