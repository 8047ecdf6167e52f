import { isLoopback } from '../../http/loopback.ts';
import { hintCommand } from '../../settings/hint-command.ts';
import type { Given } from '../../settings/layers.ts';
import type { Flags } from '../../spec/invocation.ts';
import type { Teller } from '../../terminal/teller.ts';
import { shellWord } from '../../text.ts';
import type { FirstLook } from './first-look.ts';

/** Without a filing to ask for, one that has the right form. */
const EXAMPLE = '0001234567-24-000001';

export interface Introduced {
  readonly url: string;
  readonly host: string;
  readonly directory: string;
  readonly look: FirstLook;
  /** Where the key comes from; undefined: it is the published one. */
  readonly keyFrom: Given | undefined;
  readonly publishedKey: string;
  readonly wantsToken: boolean;
  readonly flags: Flags;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** What a person should know before the first request; nothing of it is a secret. */
export function introduce(about: Introduced, tell: Teller): void {
  const { host, directory, look, keyFrom, publishedKey } = about;
  if (!isLoopback(host)) tell('warning', `${host} may be reached by other machines, and keys travel readable`);
  if (look.fault !== undefined) {
    const instead = look.instead === undefined ? '' : `: filings serve ${shellWord(look.instead)}`;
    tell('warning', `${directory}: ${look.fault}; filings are laid out as DIRECTORY/ACCESSION/FILE${instead}`);
  }
  tell('note', keyFrom === undefined ? `the key is ${publishedKey}` : `the key is the one of ${sourceOf(keyFrom)}`);
  tell('note', `try it: ${trial(about)}`);
}

/** A path says where a key is, and nothing of it. */
function sourceOf({ name, value }: Given): string {
  const isFile = /api-?_?key-?_?file$/i.test(name);
  return isFile && typeof value === 'string' ? `${name} ${value === '-' ? '(stdin)' : value}` : name;
}

/** A command that the service answers, as it can be pasted: with the key where that is no secret. */
function trial({ url, host, look, keyFrom, publishedKey, wantsToken, flags, env }: Introduced): string {
  const list = `filings list ${look.accession ?? EXAMPLE}`;
  const given = { ...flags, baseUrl: url, allowHttp: isLoopback(host) ? undefined : true, sandbox: undefined };
  const typed = keyFrom?.name === '--api-key' || keyFrom?.value === '-';
  return [
    ...(env.FILINGS_SANDBOX ? ['FILINGS_SANDBOX='] : []),
    hintCommand(list, given),
    ...(keyFrom === undefined ? [`--api-key ${publishedKey}`] : typed ? ['--api-key KEY'] : []),
    ...(wantsToken && flags.jwtFile === undefined ? ['--jwt-file FILE'] : []),
  ].join(' ');
}
