// The HTTP server of the sandbox: passes each request to `answer`, turns errors into responses, and logs.
import { once } from 'node:events';
import { stat } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { type AddressInfo, isIPv6 } from 'node:net';
import { systemReason } from '../disk/failure.ts';
import { FilingsError } from '../errors.ts';
import type { World } from '../world.ts';
import { answer, ErrorAnswer, type ServiceOptions, sendErrorAnswer } from './service.ts';

/** The default key. It is public: the help and the documentation show it. */
export const SANDBOX_KEY = 'sandbox-key';

export interface SandboxOptions extends Partial<Omit<ServiceOptions, 'directory' | 'platform' | 'now'>> {
  readonly directory: string;
  /** 0 lets the system pick a free port. */
  readonly port?: number;
  /** The line quotes text from the request. */
  readonly log?: (line: string) => void;
}

/**
 * This is longer than clients keep idle connections, so that none is closed just when a client sends a request on it.
 */
const KEEP_ALIVE_MS = 65_000;

/** Returns when the server accepts connections. */
export async function startSandbox(
  { log = () => {}, port: wantedPort = 0, ...given }: SandboxOptions,
  { platform, now }: Pick<World, 'platform' | 'now'>,
) {
  const options = { host: '127.0.0.1', apiKey: SANDBOX_KEY, jwtKeys: [], platform, now, ...given };
  const { host } = options;
  const stats = await stat(options.directory).catch(() => undefined);
  if (!stats?.isDirectory()) {
    const hint = 'pass a directory with files at DIRECTORY/ACCESSION/FILE, or omit it to serve the sample filings';
    throw new FilingsError('usage', `cannot serve ${options.directory}: not a directory`, { hint });
  }
  let requestCount = 0;
  const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, async (request, response) => {
    const startedAt = now();
    const traceId = `sandbox-${++requestCount}`;
    let errorNote = '';
    // Logged on close, because only then is it known whether the whole response was sent.
    response.once('close', () => {
      const outcome = `${response.statusCode} ${now() - startedAt}ms${errorNote}`;
      const cutNote = response.writableFinished ? '' : ' (cut off)';
      log(`${new Date(startedAt).toISOString()} ${describeRequest(request)} ${outcome}${cutNote}`);
    });
    await answer(request, response, options).catch((error) => {
      errorNote = ` ${traceId}: ${(error as Error).message}`;
      // It is too late for an error response, so the client sees that the body is truncated.
      if (response.headersSent) response.destroy();
      else {
        // Another error is only logged, because it may contain a path of this machine.
        const refusal = error instanceof ErrorAnswer ? error : new ErrorAnswer(500, 'the archive could not be read');
        sendErrorAnswer(response, refusal, traceId);
      }
    });
  });
  const port = await listen(server, host, wantedPort);
  return {
    url: `http://${isIPv6(host) ? `[${host}]` : host}:${port}`,
    port,
    /** Closes all connections, even if a response is still being sent. */
    async close() {
      const closed = once(server.close(), 'close');
      server.closeAllConnections();
      await closed;
    },
  };
}

/**
 * A key may be in the path or the query (docs/service.md, section 5). So the path is redacted, and only the accession
 * number and the file name are taken from the query.
 */
function describeRequest({ method, url = '' }: IncomingMessage): string {
  const [target = '', query] = url.split('?');
  const path = target.replace(/APIKEY-.*$/s, 'APIKEY-[redacted]');
  const parameters = new URLSearchParams(query);
  const values = ['accession_no', 'file_name'].map((name) => parameters.get(name) ?? '');
  return [method, path, ...values].filter(Boolean).join(' ');
}

async function listen(server: Server, host: string, port: number): Promise<number> {
  // A resolver may return any address for `localhost`. 127.0.0.1 is the one that the program's requests try first.
  server.listen({ host: host.toLowerCase() === 'localhost' ? '127.0.0.1' : host, port });
  await once(server, 'listening').catch((cause) => {
    const hint = 'use another --host, or another --port (0 picks a free one)';
    throw new FilingsError('local_io', `cannot listen on ${host}:${port}: ${systemReason(cause)}`, { hint, cause });
  });
  return (server.address() as AddressInfo).port;
}
