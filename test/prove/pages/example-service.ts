import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { sleep } from '../../../src/abort.ts';
import { openArchive } from '../../../src/sandbox/archive.ts';
import { createHandler } from '../../../src/sandbox/handler.ts';
import { certificatePath, tlsWith } from '../../servers/certificates.ts';
import { startProxy } from '../../servers/proxy.ts';

/** The service that pages call https://api.example.com. */
export interface ExampleService {
  /** The way to it: a proxy that leads there, whatever it is asked for, and an authority that vouches for it. */
  readonly env: Readonly<Record<string, string>>;
  close(): Promise<void>;
}

/** Starts it over a directory of filings. */
export async function startExampleService(directory: string, apiKey: string): Promise<ExampleService> {
  const closing = new AbortController();
  const options = { host: 'api.example.com', apiKey, jwtKeys: [], now: Date.now, sleep };
  const handle = createHandler(await openArchive(directory), options, closing.signal);
  const server = createServer(tlsWith('api-example'), (request, response) => void handle(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const proxy = await startProxy((server.address() as AddressInfo).port);
  return {
    env: { HTTPS_PROXY: proxy.url, NODE_EXTRA_CA_CERTS: certificatePath('api-example') },
    async close() {
      closing.abort();
      await proxy.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
