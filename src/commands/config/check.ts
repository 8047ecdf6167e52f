// Runs `config check`: takes the settings, requests one listing, and prints what the response proves about the address,
// the certificate, the key, the token and the clock. A 404 proves nothing, because any web server may send one.
import { FilingsError, type Hint, withoutResource } from '../../errors.ts';
import { type AccessionNumber, parseAccession } from '../../service/accession.ts';
import { noFilesError } from '../../service/client.ts';
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

/** The listing, or the error of its request. */
type ListingResult =
  | { readonly page: Page; readonly error?: never }
  | { readonly page?: never; readonly error: FilingsError };

/** Checks the settings. Returns 0. Throws the error of the request, or `auth` for an expired token. */
export async function run({ args, options, flags }: Invocation<typeof CHECK_OPTIONS>, world: World): Promise<number> {
  const [accessionText] = args;
  const hasAccession = accessionText !== undefined;
  const accession = parseAccession(accessionText ?? NO_FILING);
  const print = (findings: Findings) => writeFindings(findings, options.json, flags, world);
  const flagsWithoutRetry = { ...flags, retries: '0' };
  const resolved = await resolveSettings(flagsWithoutRetry, world);
  // A credential of another host is not sent: opening the session throws the error about it.
  if (resolved.foreign.length > 0) await print(notRequested(resolved.foreign));
  const session = await openSession(flagsWithoutRetry, world, { resolved });
  try {
    const result = await requestListing(session, accession);
    const findings = await findingsOf(session, result, hasAccession, world);
    await print(findings);
    const error = errorOf(result, accession, hasAccession, session);
    if (error !== undefined) throw error;
    const [token, reason] = findings.token;
    if (token === 'wrong') throw new FilingsError('auth', `the JWT: ${reason}`, { subject: { name: 'config check' } });
    if (result.error) session.progress.note(`hint: ${existingAccessionHint(session)}`);
    return 0;
  } finally {
    await session.close();
  }
}

async function requestListing({ client, signal }: Session, accession: AccessionNumber): Promise<ListingResult> {
  try {
    return { page: await client.listPage(accession, [], signal) };
  } catch (error) {
    if (signal.aborted || !(error instanceof FilingsError)) throw error;
    return { error };
  }
}

/**
 * Returns the error of the check, or undefined if it succeeded. Without ACCESSION it also succeeds with a 404 and with
 * another 4xx in the form of the service, because the service may reject a number that no filing has.
 */
function errorOf(
  { page, error }: ListingResult,
  accession: AccessionNumber,
  hasAccession: boolean,
  session: Session,
): FilingsError | undefined {
  const failure = error ?? (page.files.length === 0 ? noFilesError(accession) : undefined);
  if (failure === undefined) return undefined;
  const isRejected = failure.code === 'rejected';
  if (!hasAccession && (failure.code === 'not_found' || (isRejected && failure.fault !== 'foreign'))) return undefined;
  const hint = isRejected && !hasAccession ? existingAccessionHint(session) : withoutCommand(failure.hint);
  return failure.with({ subject: { name: 'config check', resource: undefined }, hint });
}

/** Removes the command from a hint, because it would be `filings config check` itself. */
function withoutCommand(hint: Hint | undefined): Hint | undefined {
  return typeof hint === 'object' && 'command' in hint ? { ...hint, command: undefined } : hint;
}

function existingAccessionHint({ client }: Session): string {
  return `to check more, give an accession number that exists: ${client.options.hintCommand('filings config check ACCESSION')}`;
}

async function writeFindings(findings: Findings, json: boolean, flags: Flags, world: World): Promise<void> {
  const rows = Object.entries(findings).map(([check, [verdict, detail]]) => ({ check, verdict, detail }));
  if (json) return write(world.stdout, rows.map((row) => `${printableJson(row)}\n`).join(''), world.interrupt);
  const cells = rows.map(({ check, verdict, detail = '' }) => [check, verdict, detail]);
  return writeRecords(['CHECKED', 'VERDICT', 'DETAIL'], cells, flags, world);
}

/** Returns the findings if no request is sent, because a credential belongs to another host. */
function notRequested(foreign: readonly ForeignCredential[]): Findings {
  const unknown: Finding = ['unknown', 'not requested'];
  const findingOf = (group: ForeignCredential['group']): Finding => {
    const error = foreign.find((credential) => credential.group === group)?.error;
    return error ? ['wrong', printable(error.message)] : unknown;
  };
  return { address: unknown, certificate: unknown, key: findingOf('key'), token: findingOf('token'), clock: unknown };
}

/** Returns what the result of the request proves of each setting. */
async function findingsOf(
  { settings, client }: Session,
  { page, error }: ListingResult,
  hasAccession: boolean,
  world: World,
): Promise<Findings> {
  // Only texts from outside are redacted: a key such as `key` must not change the program's own words.
  const sanitize = (text: string) => printable(world.secrets.redact(text));
  const { baseUrl: url, credentials } = client.options;
  const reason = error && sanitize(withoutResource(error).message);
  const status = error && sanitize(withoutResource(error).with({ quote: undefined }).message);
  const token = await credentials.token?.();
  const expiry = token && (await readExpiry(token, serviceTime(world.now(), client.clockAhead) / 1000));
  const skew = clockSkew(client.clockAhead, token !== undefined);
  const isRefused = error?.code === 'auth' && !isUnreached(error);
  const credential: Finding = [
    page ? 'ok' : isRefused ? 'wrong' : 'unknown',
    isRefused ? `${token ? 'the key or the token: ' : ''}${reason}` : undefined,
  ];
  return {
    address: addressFinding(error, settings.sandbox ? 'the sandbox' : sanitize(url.href), { reason, status }),
    certificate: certificateFinding(error, url, reason),
    // The response to an expired token says nothing about the key.
    key: expiry ? ['unknown', 'the token has expired'] : credential,
    token: expiry ? ['wrong', expiry] : token === undefined ? ['not used'] : credential,
    clock: clockFinding(client.clockAhead, skew),
    ...(hasAccession && { filing: filingFinding(page, error, reason) }),
  };
}

/** Whether the request did not reach the service: there was no connection, or the proxy requires a password. */
function isUnreached(error: FilingsError | undefined): boolean {
  return error?.connected === false || error?.problem?.status === 407;
}

/** Any web server sends 404 or another 4xx for an unknown path, so such a response proves nothing about the address. */
function addressFinding(
  error: FilingsError | undefined,
  baseUrl: string,
  { reason, status }: { readonly reason: string | undefined; readonly status: string | undefined },
): Finding {
  if (isUnreached(error) && error?.fault !== 'certificate') return ['wrong', `${baseUrl}: ${reason}`];
  if (error?.code === 'integrity' && error.fault === 'foreign') {
    return ['wrong', `${baseUrl}, where something else answers`];
  }
  if (error?.code === 'not_found' || error?.code === 'rejected') {
    return ['unknown', `${baseUrl} answers ${status}`];
  }
  return ['ok', baseUrl];
}

function certificateFinding(error: FilingsError | undefined, { protocol }: URL, reason?: string): Finding {
  if (error?.fault === 'certificate') return ['wrong', reason];
  if (protocol === 'http:') return ['not used'];
  return [isUnreached(error) ? 'unknown' : 'ok'];
}

function clockFinding(clockAhead: number | undefined, skew: string | undefined): Finding {
  if (clockAhead === undefined) return ['unknown', 'no response had a Date'];
  return skew ? ['wrong', skew] : ['ok'];
}

function filingFinding(page: Page | undefined, error: FilingsError | undefined, reason?: string): Finding {
  if (!page) return [error?.code === 'not_found' ? 'wrong' : 'unknown', reason];
  if (page.files.length === 0) return ['wrong', 'the service lists no files'];
  return ['ok', `${counted(page.records, 'record')}, ${counted(page.files.length, 'file')}`];
}

/** Returns how long ago the token expired, or undefined if it is valid or has no readable `exp`. */
async function readExpiry(token: string, atSeconds: number): Promise<string | undefined> {
  const { inspectToken } = await import('../../jwt/inspect.ts');
  const inspection = inspectToken(token, { atSeconds });
  if ('failedCheck' in inspection || !(Number(inspection.claims.exp) <= atSeconds)) return undefined;
  return inspection.times.exp?.relative;
}
