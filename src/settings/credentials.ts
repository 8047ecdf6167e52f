import { isAbsolute, join, resolve } from 'node:path';
import type { TokenRecipe } from '../jwt/minter.ts';
import { WHOLE_SECONDS } from '../spec/kind.ts';
import { readAs, valueError } from '../spec/option.ts';
import { envLayer, flagLayer, type Given, type Layer, sourceOf, winners } from './layers.ts';

/** Where a secret is; reading it is a later, separate step (`read-secret.ts`). */
export type SecretPlace =
  | { readonly kind: 'value'; readonly value: string }
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'command'; readonly argv: readonly string[] };

/** Where it was given: `FILINGS_API_KEY`, `--api-key-file`, `/home/me/.config/filings/config.json: apiKey`. */
interface Source {
  readonly source: string;
}

export type KeySource = SecretPlace & Source;
export type TokenSource = (SecretPlace | { readonly kind: 'recipe'; readonly recipe: TokenRecipe }) & Source;

/** RFC 9110 section 5.1. */
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** Those the request needs for itself. */
const TAKEN_HEADERS =
  /^(accept-encoding|authorization|connection|content-length|cookie|expect|host|if-range|keep-alive|range|te|trailer|transfer-encoding|upgrade|user-agent|proxy-.*)$/i;

/** Where the API key comes from. */
export function keyOf(given: Layer): KeySource | undefined {
  const value = given.get('apiKey');
  if (value !== undefined) return { kind: 'value', value: String(value.value), source: value.name };
  const file = given.get('apiKeyFile');
  if (file !== undefined) return { kind: 'file', path: pathOf(file), source: file.name };
  const command = given.get('apiKeyCommand');
  return command && { kind: 'command', argv: commandOf(command), source: command.name };
}

/** A program with a slash in its name is a path like every other; others are looked up in PATH. */
function commandOf(given: Given): readonly string[] {
  const argv = given.value as readonly string[];
  const [program = '', ...args] = argv;
  if (program === '') throw valueError(sourceOf(given), 'must begin with a program', program);
  return [program.includes('/') ? absolute(program, given) : program, ...args];
}

/** Where the JWT comes from. */
export function tokenOf(given: Layer): TokenSource | undefined {
  const file = given.get('jwtFile');
  if (file !== undefined) return { kind: 'file', path: pathOf(file), source: file.name };
  const value = given.get('jwtToken');
  if (value !== undefined) return { kind: 'value', value: String(value.value), source: value.name };
  const recipe = given.get('jwt');
  return recipe && { kind: 'recipe', recipe: recipeOf(recipe), source: recipe.name };
}

function recipeOf(given: Given): TokenRecipe {
  const { keyFile, secretFile, lifetime, ...rest } = given.value as Readonly<Record<string, string>>;
  const source = sourceOf(given);
  if ((keyFile === undefined) === (secretFile === undefined)) {
    const fault =
      keyFile === undefined ? 'keyFile or secretFile is missing' : 'keyFile and secretFile cannot be used together';
    throw valueError(source, fault);
  }
  return {
    ...rest,
    ...(keyFile !== undefined && { keyFile: absolute(keyFile, given) }),
    ...(secretFile !== undefined && { secretFile: absolute(secretFile, given) }),
    ...(lifetime !== undefined && {
      lifetime: readAs(WHOLE_SECONDS, lifetime, { ...source, name: `${source.name}.lifetime` }),
    }),
  };
}

/** The header that carries the key. */
export function keyHeaderOf(given: Layer): string {
  const one = given.get('keyHeader');
  const name = String(one?.value ?? '');
  if (!HEADER_NAME.test(name)) throw valueError(sourceOf(one), 'must be the name of a header, such as X-Service-Key');
  if (!TAKEN_HEADERS.test(name)) return name;
  const way = name.toLowerCase() === 'authorization' ? ': use --key-in authorization' : '';
  throw valueError(sourceOf(one), `${name} is not free to carry a key${way}`);
}

/** RFC 7617 section 2: no colon in a user name. */
export function basicUserOf(given: Layer): string {
  const one = given.get('basicUser');
  const name = String(one?.value ?? '');
  if (/^[ -9;-~]+$/.test(name)) return name;
  throw valueError(sourceOf(one), 'must be a user name of plain letters without a colon, such as service');
}

/** `-` stays: it is stdin. */
function pathOf(given: Given): string {
  const path = String(given.value);
  return path === '-' ? path : absolute(path, given);
}

/** A path as its source means it. */
function absolute(path: string, { directory, home }: Given): string {
  if (isAbsolute(path)) return path;
  return home && path.startsWith('~/') ? join(home, path.slice(2)) : resolve(directory, path);
}

/** Who among what was given reads stdin, as a person would write it. */
export function stdinUsers(given: Layer): readonly string[] {
  const users = { apiKeyFile: '--api-key-file -', jwtFile: '--jwt-file -' };
  return Object.entries(users).flatMap(([key, user]) => (given.get(key)?.value === '-' ? [user] : []));
}

/** The same from flags and environment alone, for commands that resolve no settings. Throws `usage`: two of one secret. */
export function stdinUsersGiven(
  flags: Readonly<Record<string, unknown>>,
  env: Readonly<Record<string, string | undefined>>,
): readonly string[] {
  return stdinUsers(winners([flagLayer(flags, '/'), envLayer(env, '/')]));
}
