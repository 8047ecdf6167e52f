import { errnoOf, FilingsError } from '../errors.ts';

interface Attempted {
  readonly url: URL;
  readonly proxy?: URL | undefined;
}

const CHECK_ADDRESS = 'check the base URL and the network, then run it again';
const CHECK_CLOCK = 'renew the certificate, or set this clock right';
const UNTRUSTED =
  'if the authority is your own, name its certificate in NODE_EXTRA_CA_CERTS; checks cannot be switched off';
const CHECK_NAME = 'check the base URL: the host name must be one that the certificate names';

/** Why a connection could not be made, by errno, OpenSSL or Node code, and what to do. */
const REASONS: readonly (readonly [code: RegExp, why: string, hint: string])[] = [
  [/^ENOTFOUND$/, 'the name does not resolve', 'check the spelling of the base URL, and the name server'],
  [/^EAI_AGAIN$/, 'the name could not be looked up', 'check the network and the name server'],
  [/^ECONNREFUSED$/, 'connection refused', 'check the address and the port: nothing listens there'],
  [/^ECONNRESET$/, 'the connection was reset', CHECK_ADDRESS],
  [/^ETIMEDOUT$/, 'connecting timed out', 'check the network, or allow more with --connect-timeout'],
  [/^EHOSTUNREACH$/, 'no route to the host', CHECK_ADDRESS],
  [/^ENETUNREACH$/, 'the network is unreachable', CHECK_ADDRESS],
  [/^CERT_HAS_EXPIRED$/, "the server's certificate has expired", CHECK_CLOCK],
  [/^CERT_NOT_YET_VALID$/, "the server's certificate is not valid yet", CHECK_CLOCK],
  [/^CERT_REVOKED$/, "the server's certificate was revoked", 'tell whoever runs the service'],
  [/ALTNAME/, "the server's certificate is for another name", CHECK_NAME],
  [/^DEPTH_ZERO_SELF/, "the server's certificate is self-signed and not trusted", UNTRUSTED],
  [/CERT|SIGNATURE/, "the server's certificate comes from an unknown authority", UNTRUSTED],
  [/^(ERR_SSL|EPROTO|ERR_TLS)/, 'the TLS handshake failed', 'check that the base URL is https where https is spoken'],
];

/** A certificate that is wrong now is wrong in a second too. */
const CERTIFICATE = /CERT|ALTNAME|SELF_SIGNED|VERIFY/;

/**
 * Turns what made a connection fail into one plain line, code `temporary`; only
 * certificate errors are not worth another try.
 */
export function connectFailure(error: unknown, { url, proxy }: Attempted): FilingsError {
  const causes = innermost(error);
  const code = causes.map(errnoOf).find((found) => found !== undefined) ?? '';
  if (code === 'EMFILE' || code === 'ENFILE') {
    // Not the network's fault, and waiting does not mend it.
    return new FilingsError('local_io', `${url.host}: cannot connect: too many open files`, {
      hint: 'lower --jobs, or raise the limit (ulimit -n)',
      stopsRun: true,
      cause: error,
    });
  }
  const said = code || (causes[0] instanceof Error ? causes[0].message : String(causes[0]));
  const unknown = [CERTIFICATE, `cannot connect (${said})`, CHECK_ADDRESS] as const;
  const [, why, hint] = REASONS.find(([pattern]) => pattern.test(code)) ?? unknown;
  const certificate = CERTIFICATE.test(code);
  const via = proxy ? ` (through the proxy ${proxy.host})` : '';
  return new FilingsError('temporary', `${url.host}: ${why}${via}`, {
    hint,
    cause: error,
    connected: false,
    retryable: !certificate,
    ...(certificate && { fault: 'certificate' }),
  });
}

/** A proxy that can't be reached is not the service's fault: turns what made it fail into one plain line that names it. */
export function proxyFailure(error: unknown, url: URL, proxy: URL): FilingsError {
  const failure = connectFailure(error, { url: proxy });
  if (failure.code !== 'temporary') return failure;
  return failure.reworded(`${url.host}: the proxy ${failure.message}`, {
    hint: 'check HTTPS_PROXY and HTTP_PROXY, or name the host in NO_PROXY to go without a proxy',
  });
}

/** Happy eyeballs give one error an address, gathered in an AggregateError. */
function innermost(error: unknown): unknown[] {
  return error instanceof AggregateError ? error.errors.flatMap(innermost) : [error];
}
