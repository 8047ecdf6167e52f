import { errnoOf, FilingsError } from '../errors.ts';

interface Attempted {
  readonly url: URL;
  readonly proxy?: URL | undefined;
}

interface Plain {
  readonly why: string;
  readonly hint: string;
}

const CHECK_ADDRESS = 'check the base URL and the network, then run it again';
const UNTRUSTED =
  'if the authority is your own, name its certificate in NODE_EXTRA_CA_CERTS; checks cannot be switched off';
const CHECK_CLOCK = 'renew the certificate, or set this clock right';

/** Why a connection could not be made, by errno, OpenSSL or Node code. */
const REASONS: Readonly<Record<string, Plain>> = {
  ENOTFOUND: { why: 'the name does not resolve', hint: 'check the spelling of the base URL, and the name server' },
  EAI_AGAIN: { why: 'the name could not be looked up', hint: 'check the network and the name server' },
  ECONNREFUSED: { why: 'connection refused', hint: 'check the address and the port: nothing listens there' },
  ECONNRESET: { why: 'the connection was reset', hint: CHECK_ADDRESS },
  ETIMEDOUT: { why: 'connecting timed out', hint: 'check the network, or allow more with --connect-timeout' },
  EHOSTUNREACH: { why: 'no route to the host', hint: CHECK_ADDRESS },
  ENETUNREACH: { why: 'the network is unreachable', hint: CHECK_ADDRESS },
  CERT_HAS_EXPIRED: { why: "the server's certificate has expired", hint: CHECK_CLOCK },
  CERT_NOT_YET_VALID: { why: "the server's certificate is not valid yet", hint: CHECK_CLOCK },
  DEPTH_ZERO_SELF_SIGNED_CERT: { why: "the server's certificate is self-signed and not trusted", hint: UNTRUSTED },
  SELF_SIGNED_CERT_IN_CHAIN: { why: "the server's certificate comes from an untrusted authority", hint: UNTRUSTED },
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: { why: "the server's certificate comes from an unknown authority", hint: UNTRUSTED },
  UNABLE_TO_GET_ISSUER_CERT: { why: "the server's certificate comes from an unknown authority", hint: UNTRUSTED },
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: {
    why: "the server's certificate comes from an unknown authority",
    hint: UNTRUSTED,
  },
  CERT_REVOKED: { why: "the server's certificate was revoked", hint: 'tell whoever runs the service' },
  ERR_TLS_CERT_ALTNAME_INVALID: {
    why: "the server's certificate is for another name",
    hint: 'check the base URL: the host name must be one that the certificate names',
  },
};

/** A certificate that is wrong now is wrong in a second too. */
const CERTIFICATE = /CERT|ALTNAME|SELF_SIGNED|VERIFY/;

/**
 * Turns what made a connection fail into one plain line, code `temporary`; only
 * certificate errors are not worth another try.
 */
export function connectFailure(error: unknown, attempted: Attempted): FilingsError {
  const causes = innermost(error);
  const code = causes.map(errnoOf).find((found) => found !== undefined) ?? '';
  if (code === 'EMFILE' || code === 'ENFILE') return tooManyOpen(error, attempted.url);
  const plain = REASONS[code] ?? unknownReason(code, causes[0]);
  const certificate = CERTIFICATE.test(code);
  const via = attempted.proxy ? ` (through the proxy ${attempted.proxy.host})` : '';
  return new FilingsError('temporary', `${attempted.url.host}: ${plain.why}${via}`, {
    hint: plain.hint,
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

/** Not the network's fault, and waiting does not mend it. */
function tooManyOpen(cause: unknown, url: URL): FilingsError {
  return new FilingsError('local_io', `${url.host}: cannot connect: too many open files`, {
    hint: 'lower --jobs, or raise the limit (ulimit -n)',
    stopsRun: true,
    cause,
  });
}

function unknownReason(code: string, error: unknown): Plain {
  if (/^(ERR_SSL|EPROTO|ERR_TLS)/.test(code)) {
    return {
      why: `the TLS handshake failed (${code})`,
      hint: 'check that the base URL is https where https is spoken',
    };
  }
  const message = error instanceof Error ? error.message : String(error);
  return { why: `cannot connect (${code || message})`, hint: CHECK_ADDRESS };
}

/** Happy eyeballs give one error an address, gathered in an AggregateError. */
function innermost(error: unknown): unknown[] {
  return error instanceof AggregateError ? error.errors.flatMap(innermost) : [error];
}
