import { SHARED_OPTIONS } from '../../settings/table.ts';
import type { CommandSpec } from '../../spec/command.ts';
import type { Flags } from '../../spec/invocation.ts';
import { type NamedOption, named } from '../../spec/option.ts';

/** What a command line that is being typed says so far. */
export interface Line {
  /** The name of the command that is being given its arguments: of `token sign`, `sign`. */
  readonly command: string;
  readonly args: readonly string[];
  readonly flags: Flags;
  /** The names of the command's own options that stand there. */
  readonly options: ReadonlySet<string>;
  /** Options have ended. */
  readonly rest: boolean;
}

/**
 * Reads the words behind the program's name. An undefined one is one that only the shell could read: it may be the value of
 * an option of the command's own. Anywhere else, or of a setting, it leaves open who is asked for what: undefined.
 */
export function readLine(words: readonly (string | undefined)[], commands: readonly CommandSpec[]): Line | undefined {
  let spec: CommandSpec = { name: '', summary: '', children: commands };
  let [due, rest]: [NamedOption | undefined, boolean] = [undefined, false];
  const args: string[] = [];
  const flags: Record<string, string | boolean> = {};
  const options = new Set<string>();
  const give = ({ name }: NamedOption, value: string | boolean) => {
    if (isShared(name)) flags[name] = value;
    else options.add(name);
  };
  for (const word of words) {
    if (word === undefined && (due === undefined || isShared(due.name))) return undefined;
    if (due !== undefined) {
      give(due, word ?? '');
      due = undefined;
    } else if (rest || !/^-./.test(word ?? '')) {
      const child = args.length > 0 || rest ? undefined : spec.children?.find(({ name }) => name === word);
      if (child === undefined) args.push(word ?? '');
      else spec = child;
    } else if (word === '--') {
      rest = true;
    } else {
      for (const { option, value } of optionsIn(word ?? '', [...named(spec.options), ...SHARED_OPTIONS])) {
        if (option.value !== undefined && value === undefined) due = option;
        else give(option, value ?? true);
      }
    }
  }
  return { command: spec.name, args, flags, options, rest };
}

function isShared(name: string): boolean {
  return SHARED_OPTIONS.some((option) => option.name === name);
}

interface Found {
  readonly option: NamedOption;
  readonly value?: string;
}

/** The options that one word holds: `--name`, `--name=value`, `-nq`, `-j4`. Unknown ones are passed over. */
function optionsIn(word: string, known: readonly NamedOption[]): readonly Found[] {
  if (word.startsWith('--')) {
    const [, name, value] = /^--([^=]*)(?:=(.*))?$/s.exec(word) ?? [];
    const option = known.find(({ flag }) => flag === name);
    return option === undefined ? [] : [value === undefined ? { option } : { option, value }];
  }
  const found: Found[] = [];
  for (let at = 1; at < word.length; at += 1) {
    const option = known.find(({ short }) => short === word[at]);
    const value = word.slice(at + 1);
    if (option?.value !== undefined) return [...found, value === '' ? { option } : { option, value }];
    if (option !== undefined) found.push({ option });
  }
  return found;
}
