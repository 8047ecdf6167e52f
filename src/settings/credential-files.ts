import { segmentsOf } from '../paths.ts';
import type { World } from '../world.ts';
import type { Layer } from './layers.ts';
import { toAbsolute } from './settings.ts';
import { type NamedSetting, SETTINGS } from './table.ts';

/** A file that holds a key or a token, or the program that writes the key. */
export interface CredentialFile {
  /** The setting that names the file: `--api-key-file`, `/home/me/c.json: jwt.keyFile`. */
  readonly name: string;
  /** Absolute. */
  readonly path: string;
  readonly group: NamedSetting['group'];
}

/** Returns the credential files that these layers name, including those that a higher layer replaces. */
export function findCredentialFiles(
  layers: readonly Layer[],
  deps: Pick<World, 'cwd' | 'env' | 'platform'>,
): readonly CredentialFile[] {
  return layers.flatMap((layer) =>
    SETTINGS.flatMap(({ key, group }) => {
      const setting = layer.get(key);
      return Object.entries(setting ? pathsIn(key, setting.value, deps.platform) : {}).flatMap(([member, path]) =>
        setting && path ? [{ name: `${setting.name}${member}`, path: toAbsolute(path, setting, deps), group }] : [],
      );
    }),
  );
}

/** Returns the paths in the value of a setting, by the suffix of the setting's name. */
function pathsIn(key: string, value: unknown, platform: string): Readonly<Record<string, string | undefined>> {
  switch (key) {
    case 'apiKeyFile':
    case 'jwtFile':
      // `-` is stdin.
      return value === '-' ? {} : { '': String(value) };
    case 'jwt': {
      const { keyFile, secretFile } = value as Readonly<Record<string, string>>;
      return { '.keyFile': keyFile, '.secretFile': secretFile };
    }
    case 'apiKeyCommand': {
      const [program] = value as readonly string[];
      return program && segmentsOf(program, platform).length > 1 ? { '': program } : {};
    }
    default:
      return {};
  }
}
