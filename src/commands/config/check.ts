import { FilingsError, reasonOf } from '../../errors.ts';
import { type AccessionNumber, parseAccession } from '../../service/accession.ts';
import { clockSkew, serviceTime } from '../../service/clock-skew.ts';
import { writeRecords } from '../../session/presentation.ts';
import { openSession, type Session } from '../../session/session.ts';
import type { ForeignCredential } from '../../settings/foreign-credentials.ts';
import { resolveSettings } from '../../settings/resolve.ts';
import type { Invocation } from '../../spec/command.ts';
import { write } from '../../stdio/output.ts';
import { printable, printableJson } from '../../terminal/printable.ts';
import type { World } from '../../world.ts';
import type { CHECK_OPTIONS } from './spec.ts';

/** No filing has it. */
const NO_FILING = '0000000000-00-000000';

type Finding = readonly [verdict: 'ok' | 'wrong' | 'unknown' | 'not used', detail?: string | undefined];
type Findings = Readonly<Record<'address' | 'certificate' | 'key' | 'token' | 'clock', Finding>>;

/** One listing tells all. What is wrong is also the error that it ends with. */
export async function run({ args, options, flags }: Invocation<typeof CHECK_OPTIONS>, world: World): Promise<number> {
  const accession = parseAccession(args[0] ?? NO_FILING);
  const tell = (findings: Findings) => writeFindings(findings, options.json, world);
  const once = { ...flags, retries: '0' };
  const resolved = await resolveSettings(once, world);
  // A credential of another host is not sent: opening the session says so.
  if (resolved.foreign.length > 0) await tell(unasked(resolved.foreign));
  const session = await openSession(once, world, { resolved });
  try {
    const error = await ask(session, accession);
    const found = await findings(session, error, world);
    await tell(found);
    if (error !== undefined && !isNothing(error)) {
      // Whoever checks need not be told to check.
      const hint = error.hint?.replace(/: filings config check\b.*$/, '');
      throw error.reworded(`config check: ${reasonOf(error)}`, { hint });
    }
    const [token, why] = found.token;
    if (token === 'wrong') throw new FilingsError('auth', `config check: the JWT: ${why}`);
    return 0;
  } finally {
    await session.close();
  }
}

async function writeFindings(findings: Findings, json: boolean, world: World): Promise<void> {
  const rows = Object.entries(findings).map(([check, [verdict, detail]]) => ({ check, verdict, detail }));
  if (json) return write(world.stdout, rows.map((row) => `${printableJson(row)}\n`).join(''), world.interrupt);
  const cells = rows.map(({ check, verdict, detail = '' }) => [check, verdict, detail]);
  return writeRecords(['CHECKED', 'VERDICT', 'DETAIL'], cells, world);
}

function unasked(foreign: readonly ForeignCredential[]): Findings {
  const unknown: Finding = ['unknown', 'not asked'];
  const about = (group: ForeignCredential['what']): Finding => {
    const error = foreign.find(({ what }) => what === group)?.error;
    return error ? ['wrong', printable(error.message)] : unknown;
  };
  return { address: unknown, certificate: unknown, key: about('key'), token: about('token'), clock: unknown };
}

/** Any web server says 404 to an unknown path, and has not looked at the key. */
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
): Promise<Findings> {
  // The program's own words stay, whatever the key is.
  const show = (text: string) => printable(world.secrets.redact(text));
  const reached = error === undefined || error.connected !== false;
  const isForeign = error?.fault === 'foreign' && error.code === 'integrity';
  const badCertificate = error?.fault === 'certificate';
  const refused = error?.code === 'auth';
  const verdict = error === undefined || isNothing(error) ? 'ok' : refused ? 'wrong' : 'unknown';
  const { baseUrl: url, credentials } = client.options;
  const token = await credentials.token?.();
  const expired = token && (await expiry(token, serviceTime(world.now(), client.clockAhead) / 1000));
  const skew = clockSkew(client.clockAhead, token !== undefined);
  const baseUrl = settings.sandbox ? 'the sandbox' : show(url.href);
  const why = error && show(reasonOf(error));
  const given: Finding = [verdict, refused ? `${token ? 'the key or the token: ' : ''}${why}` : undefined];
  return {
    address: isForeign
      ? ['wrong', `${baseUrl}, where something else answers`]
      : reached || badCertificate
        ? ['ok', baseUrl]
        : ['wrong', `${baseUrl}: ${why}`],
    certificate: badCertificate ? ['wrong', why] : [url.protocol === 'http:' ? 'not used' : reached ? 'ok' : 'unknown'],
    // Whoever sends an expired token learns nothing about the key.
    key: expired ? ['unknown', 'the token has expired'] : given,
    token: expired ? ['wrong', expired] : token === undefined ? ['not used'] : given,
    clock: client.clockAhead === undefined ? ['unknown', 'no answer told the time'] : skew ? ['wrong', skew] : ['ok'],
  };
}

/** How long ago it was; undefined while the token is valid. */
async function expiry(token: string, atSeconds: number): Promise<string | undefined> {
  const { inspectToken } = await import('../../jwt/inspect.ts');
  const seen = inspectToken(token, { atSeconds });
  return 'failedCheck' in seen || !(Number(seen.claims.exp) <= atSeconds) ? undefined : seen.times.exp?.relative;
}
