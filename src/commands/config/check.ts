import { FilingsError } from '../../errors.ts';
import { type AccessionNumber, parseAccession } from '../../service/accession.ts';
import { clockSkew, serviceTime } from '../../service/clock-skew.ts';
import { writeRecords } from '../../session/records.ts';
import { openSession, type Session } from '../../session/session.ts';
import type { ForeignCredential } from '../../settings/foreign-credentials.ts';
import { resolveSettings } from '../../settings/resolve.ts';
import type { Settings } from '../../settings/settings.ts';
import type { Flags, Invocation } from '../../spec/invocation.ts';
import { write } from '../../stdio/output.ts';
import { printable, printableJson } from '../../terminal/printable.ts';
import type { Column } from '../../terminal/table.ts';
import type { World } from '../../world.ts';
import type { CHECK_OPTIONS } from './spec.ts';

/** No filing has it. */
const NO_FILING = '0000000000-00-000000';

const COLUMNS: readonly Column[] = [{ heading: 'CHECKED' }, { heading: 'VERDICT' }, { heading: 'DETAIL', least: 12 }];

type Finding = readonly [what: string, verdict: 'ok' | 'wrong' | 'unknown' | 'not used', detail: string];

/**
 * `filings config check [ACCESSION] [--json]`: one listing tells whether address, certificate, key, token and clock are right.
 * What is wrong is also the error that it ends with.
 */
export async function run({ args, options, flags }: Invocation<typeof CHECK_OPTIONS>, world: World): Promise<number> {
  const accession = parseAccession(args[0] ?? NO_FILING);
  const tell = (rows: readonly Finding[]) => writeFindings(rows, options.json, flags, world);
  const onceOnly = { ...flags, retries: '0' };
  const resolved = await resolveSettings(onceOnly, world);
  const { settings, foreign } = resolved;
  if (foreign[0] !== undefined) {
    await tell(unasked(settings, foreign));
    throw foreign[0].error;
  }
  const session = await openSession(onceOnly, world, { resolved });
  try {
    const error = await askOnce(session, accession);
    // Only what comes from outside is redacted: the program's own words stand whatever the key is.
    const show = (text: string) => printable(world.secrets.redact(text));
    await tell(findings(session, error, await expiry(session, world), show));
    if (error === undefined || isAnswer(error)) return 0;
    const wrong = notTheService(error, session);
    // Nobody asked for the filing that no filing is, and whoever checks need not be told to check.
    const hint = wrong.hint?.replace(/: filings config check\b.*$/, '');
    const message = wrong.message.replace(`the listing of ${NO_FILING}`, 'config check');
    throw wrong.reworded(message, hint === undefined ? {} : { hint });
  } finally {
    await session.close();
  }
}

async function writeFindings(rows: readonly Finding[], json: boolean, flags: Flags, world: World): Promise<void> {
  if (json) await write(world.stdout, rows.map(asJson).join(''), world.interrupt);
  else await writeRecords({ columns: COLUMNS, rows }, flags, world);
}

/** Nothing is asked with a credential that belongs to another host. */
function unasked({ token }: Settings, foreign: readonly ForeignCredential[]): readonly Finding[] {
  const wrong = (name: 'key' | 'token', group: ForeignCredential['what']): Finding | undefined => {
    const error = foreign.find(({ what }) => what === group)?.error;
    return error && [name, 'wrong', printable(error.message)];
  };
  return [
    ['address', 'unknown', 'not asked'],
    ['certificate', 'unknown', ''],
    wrong('key', 'key') ?? ['key', 'unknown', ''],
    wrong('token', 'jwt') ?? ['token', token === undefined ? 'not used' : 'unknown', ''],
    ['clock', 'unknown', ''],
  ];
}

async function askOnce({ client, signal }: Session, accession: AccessionNumber): Promise<FilingsError | undefined> {
  try {
    await client.listPage(accession, [], signal);
    return undefined;
  } catch (error) {
    if (signal.aborted || !(error instanceof FilingsError)) throw error;
    return error;
  }
}

/** How long ago the token's own `exp` was, by the service's clock where it is known; undefined while it is valid. */
async function expiry({ client }: Session, world: World): Promise<string | undefined> {
  const token = await client.token();
  if (token === undefined) return undefined;
  const { inspectToken } = await import('../../jwt/inspect.ts');
  const atSeconds = serviceTime(world.now(), client.clockAhead) / 1000;
  const seen = inspectToken(token, { atSeconds });
  if ('failedCheck' in seen || !(Number(seen.claims.exp) <= atSeconds)) return undefined;
  return seen.times.exp?.relative;
}

/** The service let us in, and had nothing of that number: as good as a listing. */
function isAnswer(error: FilingsError): boolean {
  return isNothing(error) && !isForeign(error);
}

function isNothing({ code }: FilingsError): boolean {
  return code === 'not_found' || code === 'rejected';
}

/** Any web server says 404 to a path that it does not know, and has not looked at the key. */
function isForeign(error: FilingsError | undefined): boolean {
  return error?.fault === 'foreign' && (isNothing(error) || error.code === 'integrity');
}

/** A 404 of something else, in words that say so. */
function notTheService(error: FilingsError, { client }: Session): FilingsError {
  if (!(isNothing(error) && isForeign(error))) return error;
  return error.reworded(`${error.message}, without the problem details that the service sends`, {
    code: 'integrity',
    hint: `is the base URL the right one? See: ${client.again('filings config list')}`,
  });
}

function asJson([check, verdict, detail]: Finding): string {
  return `${printableJson({ check, verdict, ...(detail !== '' && { detail }) })}\n`;
}

function findings(
  { settings, client }: Session,
  error: FilingsError | undefined,
  expired: string | undefined,
  show: (text: string) => string,
): readonly Finding[] {
  const { token, sandbox } = settings;
  const reached = error === undefined || error.connected !== false;
  const foreign = isForeign(error);
  const certificate = error?.fault === 'certificate';
  const admitted = error === undefined || isAnswer(error);
  const refused = error?.code === 'auth';
  const verdict = admitted ? 'ok' : refused ? 'wrong' : 'unknown';
  // Whoever sends an expired token learns nothing about the key.
  const keyFinding: Finding =
    refused && expired
      ? ['key', 'unknown', 'the token has expired']
      : ['key', verdict, refused && token !== undefined ? 'the key or the token' : ''];
  return [
    [
      'address',
      (reached || certificate) && !foreign ? 'ok' : 'wrong',
      sandbox ? 'the sandbox' : `${show(client.baseUrl)}${foreign ? ', where something else answers' : ''}`,
    ],
    [
      'certificate',
      client.baseUrl.startsWith('http:') ? 'not used' : certificate ? 'wrong' : reached ? 'ok' : 'unknown',
      certificate ? show(error.message) : '',
    ],
    keyFinding,
    ['token', token === undefined ? 'not used' : expired ? 'wrong' : verdict, expired ?? ''],
    clock(client.clockAhead, token !== undefined),
  ];
}

/** Whatever the answer was, it was dated. */
function clock(aheadMs: number | undefined, withToken: boolean): Finding {
  const skew = clockSkew(aheadMs, withToken);
  if (aheadMs === undefined) return ['clock', 'unknown', 'no answer told the time'];
  return skew === undefined ? ['clock', 'ok', ''] : ['clock', 'wrong', skew];
}
