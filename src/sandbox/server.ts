import { createServer } from 'node:http';
import { type AddressInfo, isIPv6, type Server } from 'node:net';
import { createAbortController } from '../abort.ts';
import { systemReason } from '../disk/failure.ts';
import { errnoOf, FilingsError } from '../errors.ts';
import { openArchive } from './archive.ts';
import { createHandler, type HandlerOptions } from './handler.ts';

// Starts the HTTP server of the sandbox, a stand-in that behaves as docs/service.md describes the service.

export interface SandboxOptions extends HandlerOptions {
  /** An absolute path. */
  readonly directory: string;
  readonly platform: string;
  /** 0 means a free port. */
  readonly port: number;
}

interface Sandbox {
  /** The base URL, without a final slash. */
  readonly url: string;
  readonly port: number;
  /** Stops the server and cuts responses in progress. */
  close(): Promise<void>;
}

/**
 * Idle connections are kept longer than clients keep them, in milliseconds, so that no connection is closed while a
 * client sends a request on it.
 */
const KEEP_ALIVE_MS = 65_000;
/** The errors for an address that is not one of this machine. */
const NOT_OUR_ADDRESS = ['EADDRNOTAVAIL', 'ENOTFOUND', 'EAI_AGAIN', 'EINVAL'];

/**
 * Starts the stand-in service. Throws `usage` if directory or address do not exist, and `local_io` if it cannot use
 * them.
 */
export async function startSandbox(options: SandboxOptions): Promise<Sandbox> {
  const closing = createAbortController();
  const archive = await openArchive(options.directory, options.platform);
  const handle = createHandler(archive, options, closing.signal);
  // The handler refuses a request without Host.
  const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS, requireHostHeader: false }, handle);
  const port = await listen(server, options.host, options.port);
  server.on('error', (error) => options.log?.(`cannot accept a connection: ${error.message}`));
  return {
    url: `http://${authority(options.host, port)}`,
    port,
    async close() {
      closing.abort();
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}

function listen(server: Server, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause) => {
      const isElsewhere = NOT_OUR_ADDRESS.includes(errnoOf(cause) ?? '');
      const reason = isElsewhere ? 'it is not an address of this machine' : systemReason(cause);
      const hint = isElsewhere ? {} : { hint: 'choose another port with --port, or 0 for a free one' };
      const message = `cannot listen on ${authority(host, port)}: ${reason}`;
      reject(new FilingsError(isElsewhere ? 'usage' : 'local_io', message, { ...hint, cause }));
    });
    server.listen({ host: host.toLowerCase() === 'localhost' ? '127.0.0.1' : host, port }, () => {
      server.removeAllListeners('error');
      resolve((server.address() as AddressInfo).port);
    });
  });
}

/**
 * Returns host and port of a URL. An IPv6 address is in brackets, its zone after `%25` (RFC 3986, section 3.2.2; RFC
 * 6874).
 */
function authority(host: string, port: number): string {
  return `${isIPv6(host) ? `[${host.replace('%', '%25')}]` : host}:${port}`;
}
