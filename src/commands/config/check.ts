import { FilingsError, reasonOf } from '../../errors.ts';
import { type AccessionNumber, parseAccession } from '../../service/accession.ts';
import { clockSkew, serviceTime } from '../../service/clock-skew.ts';
import { writeRecords } from '../../session/presentation.ts';
import { openSession, type Session } from '../../session/session.ts';
import { type Resolved, resolveSettings } from '../../settings/resolve.ts';
import type { Invocation } from '../../spec/invocation.ts';
import { write } from '../../stdio/output.ts';
import { printable, printableJson } from '../../terminal/printable.ts';
import type { Column } from '../../terminal/table.ts';
import type { World } from '../../world.ts';
import type { CHECK_OPTIONS } from './spec.ts';

/** No filing has it. */
const NO_FILING = '0000000000-00-000000';

const COLUMNS: readonly Column[] = [{ heading: 'CHECKED' }, { heading: 'VERDICT' }, { heading: 'DETAIL', least: 12 }];

type Finding = readonly [check: string, verdict: 'ok' | 'wrong' | 'unknown' | 'not used', detail: string];

/**
 * `filings config check [ACCESSION] [--json]`: one listing tells whether address, certificate, key, token and clock are right.
 * What is wrong is also the error that it ends with.
 */
export async function run({ args, options, flags }: Invocation<typeof CHECK_OPTIONS>, world: World): Promise<number> {
  const accession = parseAccession(args[0] ?? NO_FILING);
  const tell = (rows: readonly Finding[]) =>
    options.json
      ? write(world.stdout, rows.map(asJson).join(''), world.interrupt)
      : writeRecords({ columns: COLUMNS, rows }, world);
  const once = { ...flags, retries: '0' };
  const resolved = await resolveSettings(once, world);
  // Nothing is asked with a credential that belongs to another host: opening the session says so.
  if (resolved.foreign.length > 0) await tell(unasked(resolved));
  const session = await openSession(once, world, { resolved });
  try {
    const error = await ask(session, accession);
    await tell(await findings(session, error, world));
    if (error === undefined || isNothing(error)) return 0;
    // Whoever checks need not be told to check.
    throw error.reworded(`config check: ${reasonOf(error)}`, {
      hint: error.hint?.replace(/: filings config check\b.*$/, ''),
    });
  } finally {
    await session.close();
  }
}

function asJson([check, verdict, detail]: Finding): string {
  return `${printableJson({ check, verdict, ...(detail !== '' && { detail }) })}\n`;
}

function unasked({ settings, foreign }: Resolved): readonly Finding[] {
  const about = (check: string, group: 'key' | 'jwt', otherwise: Finding[1]): Finding => {
    const error = foreign.find(({ what }) => what === group)?.error;
    return error ? [check, 'wrong', printable(error.message)] : [check, otherwise, ''];
  };
  return [
    ['address', 'unknown', 'not asked'],
    ['certificate', 'unknown', ''],
    about('key', 'key', 'unknown'),
    about('token', 'jwt', settings.token ? 'unknown' : 'not used'),
    ['clock', 'unknown', ''],
  ];
}

/** What the service objects to. Any web server says 404 to a path that it does not know, and has not looked at the key. */
async function ask({ client, signal }: Session, accession: AccessionNumber): Promise<FilingsError | undefined> {
  try {
    await client.listPage(accession, [], signal);
    return undefined;
  } catch (error) {
    if (signal.aborted || !(error instanceof FilingsError)) throw error;
    if (!isNothing(error) || error.fault !== 'foreign') return error;
    return error.reworded(`${error.message}, without the problem details that the service sends`, {
      code: 'integrity',
      hint: `is the base URL the right one? See: ${client.options.again('filings config list')}`,
    });
  }
}

/** The service let us in, and had nothing of that number: as good as a listing. */
function isNothing({ code }: FilingsError): boolean {
  return code === 'not_found' || code === 'rejected';
}

async function findings(
  { settings, client }: Session,
  error: FilingsError | undefined,
  world: World,
): Promise<readonly Finding[]> {
  // Only what comes from outside is redacted: the program's own words stay whatever the key is.
  const show = (text: string) => printable(world.secrets.redact(text));
  const reached = error === undefined || error.connected !== false;
  const isForeign = error?.fault === 'foreign' && error.code === 'integrity';
  const certificate = error?.fault === 'certificate';
  const refused = error?.code === 'auth';
  const verdict = error === undefined || isNothing(error) ? 'ok' : refused ? 'wrong' : 'unknown';
  const token = await client.options.credentials.token?.();
  const skew = clockSkew(client.clockAhead, token !== undefined);
  const expired = token && (await expiry(token, serviceTime(world.now(), client.clockAhead) / 1000));
  const address = `${show(client.options.baseUrl.href)}${isForeign ? ', where something else answers' : ''}`;
  const isPlain = client.options.baseUrl.protocol === 'http:';
  return [
    ['address', (reached || certificate) && !isForeign ? 'ok' : 'wrong', settings.sandbox ? 'the sandbox' : address],
    certificate
      ? ['certificate', 'wrong', show(error.message)]
      : ['certificate', isPlain ? 'not used' : reached ? 'ok' : 'unknown', ''],
    // Whoever sends an expired token learns nothing about the key.
    refused && expired
      ? ['key', 'unknown', 'the token has expired']
      : ['key', verdict, refused && token ? 'the key or the token' : ''],
    ['token', token === undefined ? 'not used' : expired ? 'wrong' : verdict, expired ?? ''],
    client.clockAhead === undefined
      ? ['clock', 'unknown', 'no answer told the time']
      : ['clock', skew ? 'wrong' : 'ok', skew ?? ''],
  ];
}

/** How long ago the token's own `exp` was, by the service's clock where it is known; undefined while it is valid. */
async function expiry(token: string, atSeconds: number): Promise<string | undefined> {
  const { inspectToken } = await import('../../jwt/inspect.ts');
  const seen = inspectToken(token, { atSeconds });
  if ('failedCheck' in seen || !(Number(seen.claims.exp) <= atSeconds)) return undefined;
  return seen.times.exp?.relative;
}
