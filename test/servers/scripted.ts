import { randomInt } from 'node:crypto';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type TlsOptions } from 'node:tls';
import { onTestFinished } from 'vitest';

/** One request as the scripted server saw it. */
export interface SeenRequest {
  /** `GET /path HTTP/1.1`. */
  readonly line: string;
  readonly path: string;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  /** Counted from 0 over the server's life. */
  readonly index: number;
}

export type Script = (socket: Socket, request: SeenRequest) => void | Promise<void>;

export interface ScriptedServer {
  readonly url: string;
  readonly port: number;
  readonly requests: readonly SeenRequest[];
  readonly connections: () => number;
  /** What is below a connection's TLS; in plain, the connection itself. */
  readonly below: (socket: Socket) => Socket;
  close(): Promise<void>;
}

/** As {@link startScripted}, until the test has ended. */
export async function scripted(script: Script, tls?: TlsOptions): Promise<ScriptedServer> {
  const server = await startScripted(script, tls);
  onTestFinished(() => server.close());
  return server;
}

/** A raw-socket server that answers each request with whatever bytes the script writes; over TLS when it is given a key. */
export async function startScripted(script: Script, tls?: TlsOptions): Promise<ScriptedServer> {
  const requests: SeenRequest[] = [];
  const sockets = new Set<Socket>();
  let connections = 0;
  const onConnection = (socket: Socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket)).on('error', () => {});
    let held = '';
    socket.on('data', (data) => {
      held += data.toString('latin1');
      for (let end = held.indexOf('\r\n\r\n'); end >= 0; end = held.indexOf('\r\n\r\n')) {
        const request = parse(held.slice(0, end), requests.length);
        held = held.slice(end + 4);
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
    below: (socket) => below.get(socket) ?? socket,
    close: () =>
      new Promise((resolve) => {
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

/** A port on which nothing listens. Nor will anything by chance: it is below those that systems give to who asks for any. */
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

/** Whether a TCP connection to the port succeeds. */
export function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}
