import { randomInt } from 'node:crypto';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type TlsOptions } from 'node:tls';
import { onTestFinished } from 'vitest';

/** A request as the scripted server received it. */
export interface SeenRequest {
  /** `GET /path HTTP/1.1`. */
  readonly line: string;
  readonly path: string;
  /** Field names are in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Number of earlier requests to the server. */
  readonly index: number;
}

export type Script = (socket: Socket, request: SeenRequest) => void | Promise<void>;

export type ScriptedServer = Awaited<ReturnType<typeof startScripted>>;

/** Runs {@link startScripted} until the end of the test. */
export async function scripted(script: Script, tls?: TlsOptions): Promise<ScriptedServer> {
  const server = await startScripted(script, tls);
  onTestFinished(() => server.close());
  return server;
}

/** A server on raw sockets. A script writes the bytes of each response. With a key, the server uses TLS. */
export async function startScripted(script: Script, tls?: TlsOptions) {
  const requests: SeenRequest[] = [];
  const sockets = new Set<Socket>();
  let connections = 0;
  const onConnection = (socket: Socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket)).on('error', () => {});
    let buffered = '';
    socket.on('data', (data) => {
      buffered += data.toString('latin1');
      for (let end = buffered.indexOf('\r\n\r\n'); end >= 0; end = buffered.indexOf('\r\n\r\n')) {
        const request = parse(buffered.slice(0, end), requests.length);
        buffered = buffered.slice(end + 4);
        requests.push(request);
        void script(socket, request);
      }
    });
  };
  const raw = new Map<number | undefined, Socket>();
  const below = new WeakMap<Socket, Socket | undefined>();
  const server: Server = tls
    ? createTlsServer(tls, onConnection)
        .on('connection', (each) => raw.set(each.remotePort, each))
        .on('secureConnection', (secured) => below.set(secured, raw.get(secured.remotePort)))
        .on('tlsClientError', () => {})
    : createServer({ noDelay: true }, onConnection);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  return {
    url: `http${tls ? 's' : ''}://127.0.0.1:${port}`,
    port,
    requests,
    connections: () => connections,
    /** The TCP socket below a TLS socket, or the socket itself without TLS. */
    below: (socket: Socket) => below.get(socket) ?? socket,
    close: () =>
      new Promise<void>((resolve) => {
        for (const socket of sockets) socket.destroy();
        server.close(() => resolve());
      }),
  };
}

function parse(head: string, index: number): SeenRequest {
  const [line = '', ...fields] = head.split('\r\n');
  const headers: Record<string, string> = {};
  for (const field of fields) {
    const colon = field.indexOf(':');
    headers[field.slice(0, colon).toLowerCase()] = field.slice(colon + 1).trim();
  }
  return { line, path: line.split(' ')[1] ?? '', headers, index };
}

/** A port without a listener. It is below the ports that systems assign, so that no other process gets it by chance. */
export async function closedPort(): Promise<number> {
  for (;;) {
    const port = randomInt(10_000, 32_000);
    if (await isFree(port)) return port;
  }
}

function isFree(port: number): Promise<boolean> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}

/** The port of a listener that does not wait for a request. It is closed at the end of the test. */
export async function listening(onConnection: (socket: Socket) => void, host = '127.0.0.1'): Promise<number> {
  const server = createServer((socket) => onConnection(socket.on('error', () => {})));
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  onTestFinished(() => void server.close());
  return (server.address() as { port: number }).port;
}

/** Returns true if a TCP connection to the port succeeds. */
export function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}
