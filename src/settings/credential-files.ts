import { segmentsOf } from '../paths.ts';
import type { World } from '../world.ts';
import type { Layer } from './layers.ts';
import { absolute } from './settings.ts';
import { type NamedSetting, SETTINGS } from './table.ts';

/** A file that holds a key or a token, or the program that writes the key. */
export interface CredentialFile {
  /** Where it is named: `--api-key-file`, `/home/me/c.json: jwt.keyFile`. */
  readonly name: string;
  /** Absolute. */
  readonly path: string;
  readonly group: NamedSetting['group'];
}

/** Returns all that these levels name, also where a higher level names another one. */
export function credentialFiles(
  levels: readonly Layer[],
  place: Pick<World, 'cwd' | 'env' | 'platform'>,
): readonly CredentialFile[] {
  return levels.flatMap((level) =>
    SETTINGS.flatMap(({ key, group }) => {
      const given = level.get(key);
      return Object.entries(given ? pathsIn(key, given.value, place.platform) : {}).flatMap(([member, path]) =>
        given && path ? [{ name: `${given.name}${member}`, path: absolute(path, given, place), group }] : [],
      );
    }),
  );
}

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
