import { FilingsError } from '../../errors.ts';
import { defaultLayer, fileLayer, winners } from '../layers.ts';
import { readSettings } from '../read-values.ts';
import { requireProfile } from './edit.ts';
import { lineOfMember } from './member-line.ts';
import { type ConfigValues, configFault, parseConfig } from './read.ts';

/**
 * Looks at what a config file is to hold as reading it does: its form, every value, by itself and in each profile.
 * @throws FilingsError `config` or `usage`, with the line of what is wrong
 */
export async function checkDraft(text: string): Promise<void> {
  const config = parseConfig(text, 'the config file');
  const fault = await configFault(config);
  if (fault !== undefined) {
    const { at, why, hint } = fault;
    throw atLine(text, at, new FilingsError('config', `${at}: ${why}`, hint === undefined ? {} : { hint }));
  }
  const profiles = (config.profiles ?? {}) as Readonly<Record<string, ConfigValues>>;
  try {
    if (config.profile !== undefined) requireProfile(String(config.profile), config);
    checkValues(config);
    for (const [name, profile] of Object.entries(profiles)) checkValues(config, name, profile);
  } catch (error) {
    throw error instanceof FilingsError ? atLine(text, error.message.split(/[: ]/, 1).join(), error) : error;
  }
}

function checkValues(config: ConfigValues, name = '', profile: ConfigValues = {}): void {
  const where = { directory: '/', home: '/' };
  const layers = [
    fileLayer('profile', profile, { ...where, prefix: `profiles.${name}.` }),
    fileLayer('file', config, { ...where, prefix: '' }),
    defaultLayer('/'),
  ];
  readSettings(winners(layers));
}

/** The error with the line of the member that it is about, where that can be found. */
function atLine(text: string, at: string, error: FilingsError): FilingsError {
  const line = lineOfMember(text, at.split('.'));
  return line === undefined ? error : error.reworded(`line ${line}: ${error.message}`);
}
