import { connect } from 'node:net';
import { onTestFinished } from 'vitest';
import type { SeenRequest } from './scripted.ts';
import { type ScriptedServer, startScripted } from './scripted.ts';

export interface Proxy extends ScriptedServer {
  /** All bytes that went through its tunnels, in both directions. */
  seen(): Buffer;
}

/** A proxy for CONNECT, whose tunnels all lead to one port; `refuse` answers instead of opening one. */
export async function startProxy(port: number, refuse?: (request: SeenRequest) => string | undefined): Promise<Proxy> {
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
    socket.on('data', (data) => {
      seen.push(data);
      upstream.write(data);
    });
    upstream.on('data', (data) => {
      seen.push(data);
      socket.write(data);
    });
  });
  return { ...server, seen: () => Buffer.concat(seen) };
}

/** As {@link startProxy}, until the test has ended. */
export async function proxying(...given: Parameters<typeof startProxy>): Promise<Proxy> {
  const proxy = await startProxy(...given);
  onTestFinished(() => proxy.close());
  return proxy;
}
