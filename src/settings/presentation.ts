import type { Kind } from '../spec/kind.ts';
import type { Presentation } from '../world.ts';
import type { Layer } from './layers.ts';
import { type SettingKey, TABLE } from './table.ts';

/**
 * How errors and notes are shown by what these layers say, strongest first, whatever is wrong with the rest of the
 * settings: of each the first value that can be read.
 */
export function presentationIn(layers: readonly Layer[]): Presentation {
  const { errorFormat, color, verbose, quiet } = TABLE;
  const first = <T>(key: SettingKey, kind: Kind<T>): T | undefined => {
    for (const layer of layers) {
      const given = layer.get(key);
      const value = given && kind.parse(String(given.value));
      if (value !== undefined) return value;
    }
    return undefined;
  };
  return {
    errorFormat: first('errorFormat', errorFormat.kind) ?? errorFormat.default,
    color: first('color', color.kind) ?? color.default,
    verbose: first('verbose', verbose.kind) ?? false,
    quiet: first('quiet', quiet.kind) ?? false,
  };
}
