// Starts the HTTP server of the sandbox, answers each request by `service.ts`, and logs it.
import { once } from 'node:events';
import { realpath, stat } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { type AddressInfo, isIPv6 } from 'node:net';
import { systemReason } from '../disk/failure.ts';
import { FilingsError } from '../errors.ts';
import { answer, Refusal, type ServiceOptions, sendRefusal } from './service.ts';

export interface SandboxOptions extends ServiceOptions {
  /** 0 means a free port. */
  readonly port: number;
  readonly log?: (line: string) => void;
}

/** Idle connections are kept longer than clients keep them, so that none is closed while a client sends a request. */
const KEEP_ALIVE_MS = 65_000;

/** Starts the stand-in service. Throws `usage` if the directory does not exist, and `local_io`. */
export async function startSandbox({ log = () => {}, ...options }: SandboxOptions) {
  const { host, now } = options;
  const stats = await stat(options.directory).catch(() => undefined);
  if (!stats?.isDirectory()) {
    const hint = 'name a folder laid out as DIRECTORY/ACCESSION/FILE, or none for the sample filings';
    throw new FilingsError('usage', `cannot serve ${options.directory}: not a directory`, { hint });
  }
  // No link in it may lead out of it.
  const directory = await realpath(options.directory);
  let count = 0;
  const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, async (request, response) => {
    const startedAt = now();
    const traceId = `sandbox-${++count}`;
    let fault = '';
    // Only when the response is closed it is known whether it was sent to its end.
    response.once('close', () => {
      const outcome = `${response.statusCode} ${now() - startedAt}ms${fault}`;
      const isCut = response.writableFinished ? '' : ' (cut off)';
      log(`${new Date(startedAt).toISOString()} ${subjectOf(request)} ${outcome}${isCut}`);
    });
    await answer(request, response, { ...options, directory }).catch((error) => {
      fault = ` ${traceId}: ${(error as Error).message}`;
      // A client must not take a part for the whole body.
      if (response.headersSent) response.destroy();
      else {
        const refusal = error instanceof Refusal ? error : new Refusal(500, 'the archive could not be read');
        sendRefusal(response, refusal, traceId);
      }
    });
  });
  const port = await listen(server, host, options.port);
  return {
    url: `http://${isIPv6(host) ? `[${host}]` : host}:${port}`,
    port,
    /** Stops the server and cuts responses in progress. */
    async close() {
      const closed = once(server.close(), 'close');
      server.closeAllConnections();
      await closed;
    },
  };
}

/** Returns the subject of a request for the log. The rest of its query, and a segment of its path, may hold a key. */
function subjectOf({ method, url = '' }: IncomingMessage): string {
  const [target = '', query] = url.split('?');
  const path = target.replace(/APIKEY-.*$/s, 'APIKEY-[redacted]');
  const parameters = new URLSearchParams(query);
  const names = ['accession_no', 'file_name'].map((name) => parameters.get(name) ?? '');
  return [method, path, ...names].filter(Boolean).join(' ');
}

async function listen(server: Server, host: string, port: number): Promise<number> {
  server.listen({ host: host.toLowerCase() === 'localhost' ? '127.0.0.1' : host, port });
  await once(server, 'listening').catch((cause) => {
    const hint = 'choose another --host, or another --port (0 for a free one)';
    throw new FilingsError('local_io', `cannot listen on ${host}:${port}: ${systemReason(cause)}`, { hint, cause });
  });
  return (server.address() as AddressInfo).port;
}
