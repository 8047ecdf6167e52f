import { FilingsError, type Hint, withoutResource } from '../../errors.ts';
import { type AccessionNumber, parseAccession } from '../../service/accession.ts';
import { noFiles } from '../../service/client.ts';
import { clockSkew, serviceTime } from '../../service/clock-skew.ts';
import type { Page } from '../../service/listing.ts';
import { writeRecords } from '../../session/presentation.ts';
import { openSession, type Session } from '../../session/session.ts';
import type { ForeignCredential } from '../../settings/foreign-credentials.ts';
import { resolveSettings } from '../../settings/resolve.ts';
import type { Flags, Invocation } from '../../spec/command.ts';
import { write } from '../../stdio/output.ts';
import { printable, printableJson } from '../../terminal/printable.ts';
import { counted } from '../../text.ts';
import type { World } from '../../world.ts';
import type { CHECK_OPTIONS } from './spec.ts';

/** The accession number that is requested without ACCESSION. No filing has it. */
const NO_FILING = '0000000000-00-000000';

type Finding = readonly [verdict: 'ok' | 'wrong' | 'unknown' | 'not used', detail?: string | undefined];
/** `filing` is reported only with ACCESSION. */
type Findings = Readonly<Record<'address' | 'certificate' | 'key' | 'token' | 'clock', Finding>> & {
  readonly filing?: Finding;
};

/** The listing that was requested, or the error in its place. */
type Answer = { readonly page: Page; readonly error?: never } | { readonly page?: never; readonly error: FilingsError };

/** Checks the settings by one request for a listing. Throws the error of the request, or `auth` for an expired token. */
export async function run({ args, options, flags }: Invocation<typeof CHECK_OPTIONS>, world: World): Promise<number> {
  const [named] = args;
  const accession = parseAccession(named ?? NO_FILING);
  const tell = (findings: Findings) => writeFindings(findings, options.json, flags, world);
  const once = { ...flags, retries: '0' };
  const resolved = await resolveSettings(once, world);
  // A credential of another host is not sent: opening the session throws the error about it.
  if (resolved.foreign.length > 0) await tell(notRequested(resolved.foreign));
  const session = await openSession(once, world, { resolved });
  try {
    const answer = await request(session, accession);
    const found = await findings(session, answer, named !== undefined, world);
    await tell(found);
    const error = failureOf(answer, accession, named !== undefined, session);
    if (error !== undefined) throw error;
    const [token, why] = found.token;
    if (token === 'wrong') throw new FilingsError('auth', `the JWT: ${why}`, { subject: { name: 'config check' } });
    if (answer.error) session.progress.note(`hint: ${withExisting(session)}`);
    return 0;
  } finally {
    await session.close();
  }
}

async function request({ client, signal }: Session, accession: AccessionNumber): Promise<Answer> {
  try {
    return { page: await client.listPage(accession, [], signal) };
  } catch (error) {
    if (signal.aborted || !(error instanceof FilingsError)) throw error;
    return { error };
  }
}

/**
 * Returns the error that the check ends with. Without ACCESSION a 404 is none, nor is another 4xx in the form of the
 * service, which may reject a number that no filing has.
 */
function failureOf(
  { page, error }: Answer,
  accession: AccessionNumber,
  isNamed: boolean,
  session: Session,
): FilingsError | undefined {
  const failure = error ?? (page.files.length === 0 ? noFiles(accession) : undefined);
  if (failure === undefined) return undefined;
  const isRejected = failure.code === 'rejected';
  if (!isNamed && (failure.code === 'not_found' || (isRejected && failure.fault !== 'foreign'))) return undefined;
  const hint = isRejected && !isNamed ? withExisting(session) : withoutCommand(failure.hint);
  return failure.with({ subject: { name: 'config check', resource: undefined }, hint });
}

/** This command needs no hint to run it. */
function withoutCommand(hint: Hint | undefined): Hint | undefined {
  return typeof hint === 'object' && 'command' in hint ? { ...hint, command: undefined } : hint;
}

function withExisting({ client }: Session): string {
  return `to check more, give an accession number that exists: ${client.options.again('filings config check ACCESSION')}`;
}

async function writeFindings(findings: Findings, json: boolean, flags: Flags, world: World): Promise<void> {
  const rows = Object.entries(findings).map(([check, [verdict, detail]]) => ({ check, verdict, detail }));
  if (json) return write(world.stdout, rows.map((row) => `${printableJson(row)}\n`).join(''), world.interrupt);
  const cells = rows.map(({ check, verdict, detail = '' }) => [check, verdict, detail]);
  return writeRecords(['CHECKED', 'VERDICT', 'DETAIL'], cells, flags, world);
}

/** The findings without a request, because a credential belongs to another host. */
function notRequested(foreign: readonly ForeignCredential[]): Findings {
  const unknown: Finding = ['unknown', 'not requested'];
  const about = (group: ForeignCredential['what']): Finding => {
    const error = foreign.find(({ what }) => what === group)?.error;
    return error ? ['wrong', printable(error.message)] : unknown;
  };
  return { address: unknown, certificate: unknown, key: about('key'), token: about('token'), clock: unknown };
}

async function findings(
  { settings, client }: Session,
  { page, error }: Answer,
  isNamed: boolean,
  world: World,
): Promise<Findings> {
  // The program's own words are not redacted, whatever the key is.
  const show = (text: string) => printable(world.secrets.redact(text));
  const { baseUrl: url, credentials } = client.options;
  const why = error && show(withoutResource(error).message);
  const status = error && show(withoutResource(error).with({ quote: undefined }).message);
  const token = await credentials.token?.();
  const expired = token && (await expiry(token, serviceTime(world.now(), client.clockAhead) / 1000));
  const skew = clockSkew(client.clockAhead, token !== undefined);
  const isRefused = error?.code === 'auth' && !isUnreached(error);
  const credential: Finding = [
    page ? 'ok' : isRefused ? 'wrong' : 'unknown',
    isRefused ? `${token ? 'the key or the token: ' : ''}${why}` : undefined,
  ];
  return {
    address: addressFinding(error, settings.sandbox ? 'the sandbox' : show(url.href), { why, status }),
    certificate: certificateFinding(error, url, why),
    // The answer to an expired token says nothing about the key.
    key: expired ? ['unknown', 'the token has expired'] : credential,
    token: expired ? ['wrong', expired] : token === undefined ? ['not used'] : credential,
    clock: clockFinding(client.clockAhead, skew),
    ...(isNamed && { filing: filingFinding(page, error, why) }),
  };
}

/** Whether the request did not get to the service: no connection, or a proxy that wants a password. */
function isUnreached(error: FilingsError | undefined): boolean {
  return error?.connected === false || error?.problem?.status === 407;
}

/** Any web server answers 404 or another 4xx to a path that it does not know: that proves nothing. */
function addressFinding(
  error: FilingsError | undefined,
  baseUrl: string,
  { why, status }: { readonly why: string | undefined; readonly status: string | undefined },
): Finding {
  if (isUnreached(error) && error?.fault !== 'certificate') return ['wrong', `${baseUrl}: ${why}`];
  if (error?.code === 'integrity' && error.fault === 'foreign') {
    return ['wrong', `${baseUrl}, where something else answers`];
  }
  if (error?.code === 'not_found' || error?.code === 'rejected') {
    return ['unknown', `${baseUrl} answers ${status}`];
  }
  return ['ok', baseUrl];
}

function certificateFinding(error: FilingsError | undefined, { protocol }: URL, why?: string): Finding {
  if (error?.fault === 'certificate') return ['wrong', why];
  if (protocol === 'http:') return ['not used'];
  return [isUnreached(error) ? 'unknown' : 'ok'];
}

function clockFinding(clockAhead: number | undefined, skew: string | undefined): Finding {
  if (clockAhead === undefined) return ['unknown', 'no response had a Date'];
  return skew ? ['wrong', skew] : ['ok'];
}

function filingFinding(page: Page | undefined, error: FilingsError | undefined, why?: string): Finding {
  if (!page) return [error?.code === 'not_found' ? 'wrong' : 'unknown', why];
  if (page.files.length === 0) return ['wrong', 'the service lists no files'];
  return ['ok', `${counted(page.records, 'record')}, ${counted(page.files.length, 'file')}`];
}

/** Returns how long ago the token expired, or undefined if it is valid or has no readable `exp`. */
async function expiry(token: string, atSeconds: number): Promise<string | undefined> {
  const { inspectToken } = await import('../../jwt/inspect.ts');
  const seen = inspectToken(token, { atSeconds });
  return 'failedCheck' in seen || !(Number(seen.claims.exp) <= atSeconds) ? undefined : seen.times.exp?.relative;
}
