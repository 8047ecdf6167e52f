import { FilingsError } from '../../errors.ts';
import { didYouMean } from '../../spec/nearest.ts';
import { type NamedSetting, RECIPE_MEMBERS, SETTINGS } from '../table.ts';

/** A setting, or a member of the one that has members: `jobs`, `jwt.keyFile`. */
export interface SettingName {
  readonly spec: NamedSetting;
  readonly member: keyof typeof RECIPE_MEMBERS | undefined;
  /** As it is spelled in the config file. */
  readonly name: string;
}

/**
 * The setting of a name, written as in the config file or as a flag: `apiKey`, `api-key`, `jwt.keyFile`, `jwt.key-file`.
 * @throws FilingsError `usage` with the nearest name
 */
export function settingNamed(text: string): SettingName {
  const written = text.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
  const found = everyName().find(({ name }) => name === written);
  if (found !== undefined) return found;
  const known = everyName().map(({ name }) => name);
  throw new FilingsError('usage', `${text || "''"}: no such setting`, {
    hint: didYouMean(written, known) ?? "see 'filings help config'",
  });
}

function everyName(): readonly SettingName[] {
  const members = Object.keys(RECIPE_MEMBERS) as (keyof typeof RECIPE_MEMBERS)[];
  return SETTINGS.flatMap((spec) => [
    { spec, member: undefined, name: spec.key },
    ...(spec.kind.json === 'recipe' ? members.map((member) => ({ spec, member, name: `${spec.key}.${member}` })) : []),
  ]);
}
