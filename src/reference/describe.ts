import type { ArgumentSpec, CommandSpec } from '../commands/command-spec.ts';
import { type OptionSpec, SETTINGS, type SettingSpec } from '../settings/options.ts';
import { orList } from '../settings/values.ts';

/** One line about the program. */
export const PURPOSE =
  'Lists and downloads the files of company filings, and mints and checks the JWTs their service takes.';

export const HELP_OPTION: OptionSpec = { flag: 'help', short: 'h', help: 'show help' };
export const VERSION_OPTION: OptionSpec = { flag: 'version', short: 'V', help: 'print the version' };

/** A command with its place in the tree: `['token', 'sign']`. */
export interface Placed {
  readonly path: readonly string[];
  readonly spec: CommandSpec;
}

/** Every command, groups before their children. */
export function placed(commands: readonly CommandSpec[], path: readonly string[] = []): readonly Placed[] {
  return commands.flatMap((spec) => {
    const own = [...path, spec.name];
    return [{ path: own, spec }, ...placed(spec.children ?? [], own)];
  });
}

/** `-o, --output PATH`; without a short flag, aligned with those that have one. */
export function optionTerm({ short, flag, value }: OptionSpec): string {
  return `${short === undefined ? '    ' : `-${short}, `}--${flag}${value === undefined ? '' : ` ${value}`}`;
}

/** What an option does, with its choices where the text does not name them. */
export function optionText({ help, choices, repeatable }: OptionSpec): string {
  const unnamed = choices !== undefined && !choices.every((choice) => help.includes(choice));
  return `${help}${unnamed ? ` (${orList(choices)})` : ''}${repeatable ? ' (repeatable)' : ''}`;
}

/** As `optionText`, with the variable and the default of the setting. */
export function settingText(spec: SettingSpec): string {
  const text = spec.option === undefined ? (spec.help ?? '') : optionText(spec.option);
  const notes = [spec.env, spec.kind !== 'switch' && spec.default !== undefined && `default ${spec.default}`];
  const shown = notes.filter((note) => typeof note === 'string').join(', ');
  return shown === '' ? text : `${text} [${shown}]`;
}

/** The settings that have a flag. */
export function flaggedSettings(): readonly (SettingSpec & { readonly option: OptionSpec })[] {
  return SETTINGS.flatMap((spec) => (spec.option === undefined ? [] : [{ ...spec, option: spec.option }]));
}

/** `[ACCESSION...]`. */
export function argumentTerm({ name, variadic, required }: ArgumentSpec): string {
  const words = `${name}${variadic ? '...' : ''}`;
  return required ? words : `[${words}]`;
}

/** `filings token sign [OPTION...]`. */
export function usageOf({ path, spec }: Placed): string {
  const rest =
    spec.children === undefined
      ? (spec.arguments ?? []).map(argumentTerm)
      : [spec.defaultChild === undefined ? 'COMMAND ...' : '[COMMAND ...]'];
  return ['filings', ...path, '[OPTION...]', ...rest].join(' ');
}

/** A summary as a sentence. */
export function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}
