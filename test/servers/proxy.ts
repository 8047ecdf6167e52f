import { connect, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import { type SeenRequest, startScripted } from './scripted.ts';

/**
 * A CONNECT proxy whose tunnels lead to `port`. If `refuse` returns a response, the proxy sends it instead of opening
 * the tunnel. `seen` returns all bytes of the tunnels, in both directions.
 */
export async function startProxy(port: number, refuse?: (request: SeenRequest) => string | undefined) {
  const seen: Buffer[] = [];
  const server = await startScripted((socket, request) => {
    const refusal = refuse?.(request);
    if (refusal !== undefined) {
      socket.end(refusal);
      return;
    }
    const upstream = connect(port, '127.0.0.1');
    upstream.on('error', () => socket.destroy()).on('close', () => socket.destroy());
    socket.on('close', () => upstream.destroy());
    socket.removeAllListeners('data');
    socket.write('HTTP/1.1 200 Connection established\r\nVia: test\r\n\r\n');
    const pass = (from: Socket, to: Socket) =>
      from.on('data', (data) => {
        seen.push(data);
        to.write(data);
      });
    pass(socket, upstream);
    pass(upstream, socket);
  });
  return { ...server, seen: () => Buffer.concat(seen) };
}

/** Runs {@link startProxy} until the end of the test. */
export async function proxying(...given: Parameters<typeof startProxy>) {
  const proxy = await startProxy(...given);
  onTestFinished(() => proxy.close());
  return proxy;
}
