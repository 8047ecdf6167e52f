import { FilingsError } from '../errors.ts';
import type { ValueSource } from '../spec/option.ts';
import { flagOfSetting, type NamedSetting, SETTINGS } from './table.ts';

/** From the one that wins to the one that gives way. */
export type Level = 'flag' | 'env' | 'profile' | 'file' | 'default';

/** Where a setting's value came from. */
export interface Origin {
  readonly level: Level;
  /** `--jobs`, `FILINGS_JOBS`, `/home/me/.config/filings/config.json: profiles.work.jobs`, `default`. */
  readonly name: string;
}

/** A value as it was given: text, `true` for a switch's flag, JSON from the config file. */
export interface Given extends Origin {
  readonly value: unknown;
  /** The directory that a relative path is relative to. */
  readonly directory: string;
  /** What a leading `~/` stands for: no shell expands it in a file. */
  readonly home?: string | undefined;
  /** The name of the profile that says it. */
  readonly profile?: string;
}

/** What one level says, by the settings' keys. */
export type Layer = ReadonlyMap<string, Given>;

type Environment = Readonly<Record<string, string | undefined>>;

export function flagLayer(flags: Readonly<Record<string, unknown>>, cwd: string): Layer {
  return layer((spec) => {
    const name = flagOfSetting(spec);
    const value = flags[spec.key];
    return value === undefined || name === undefined ? undefined : { level: 'flag', name, value, directory: cwd };
  });
}

/** A variable set to the empty string counts as unset. */
export function envLayer(env: Environment, cwd: string): Layer {
  return layer((spec) => {
    const value = spec.env && env[spec.env];
    if (value) return { level: 'env', name: `${spec.env}`, value, directory: cwd };
    const color = spec.key === 'color' ? colorFromEnvironment(env) : undefined;
    return color && { level: 'env', ...color, directory: cwd };
  });
}

/** Members of the config file, or of one of its profiles. */
export function fileLayer(
  level: 'profile' | 'file',
  values: Readonly<Record<string, unknown>>,
  where: Pick<Given, 'directory' | 'home' | 'profile'> & { readonly prefix: string },
): Layer {
  return layer((spec) => {
    const value = spec.inFile && Object.hasOwn(values, spec.key) ? values[spec.key] : undefined;
    const { prefix, ...base } = where;
    return value === undefined ? undefined : { level, name: `${prefix}${spec.key}`, value, ...base };
  });
}

export function defaultLayer(cwd: string): Layer {
  return layer((spec) =>
    spec.default === undefined ? undefined : { level: 'default', name: 'default', value: spec.default, directory: cwd },
  );
}

function layer(give: (spec: NamedSetting) => Given | undefined | '' | false): Layer {
  const given = SETTINGS.map((spec): [string, unknown] => [spec.key, give(spec)]);
  return new Map(given.filter((entry): entry is [string, Given] => Boolean(entry[1])));
}

/** The conventions of no-color.org and of bixense.com/clicolors, strongest first. */
function colorFromEnvironment(env: Environment): { name: string; value: string } | undefined {
  if (env.NO_COLOR) return { name: 'NO_COLOR', value: 'never' };
  const force = env.FORCE_COLOR;
  if (force) return { name: 'FORCE_COLOR', value: force === '0' || force === 'false' ? 'never' : 'always' };
  const cliColor = env.CLICOLOR_FORCE;
  return cliColor && cliColor !== '0' ? { name: 'CLICOLOR_FORCE', value: 'always' } : undefined;
}

/**
 * For each setting the first layer that has it. Settings of a group are one: the first layer
 * that has any of them decides for all.
 * @throws FilingsError `usage` or `config` when that layer has two of a group
 */
export function winners(layers: readonly Layer[]): Layer {
  const won = new Map<string, Given>();
  for (const spec of SETTINGS) {
    const rivals = spec.group === undefined ? [spec] : SETTINGS.filter((other) => other.group === spec.group);
    const deciding = layers.find((one) => rivals.some(({ key }) => one.has(key)));
    const given = deciding?.get(spec.key);
    if (deciding === undefined || given === undefined) continue;
    const [, second] = rivals.filter(({ key }) => deciding.has(key));
    if (second !== undefined)
      throw twoSources(
        rivals.flatMap(({ key }) => deciding.get(key) ?? []),
        spec.group,
      );
    won.set(spec.key, given);
  }
  return won;
}

function twoSources(given: readonly Given[], group: NamedSetting['group']): FilingsError {
  const [first, second] = given;
  const what = group === 'key' ? 'the API key' : 'the JWT';
  return new FilingsError(sourceOf(first).code, `${first?.name} and ${second?.name}: two sources of ${what}`, {
    hint: 'remove one of them',
  });
}

/** The source of a value, for messages about it. */
export function sourceOf(given: Origin | undefined): ValueSource {
  const isOfThisRun = given?.level === 'flag' || given?.level === 'env';
  return { name: given?.name ?? '', code: isOfThisRun ? 'usage' : 'config' };
}
