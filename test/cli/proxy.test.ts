import { describe, expect, test } from 'vitest';
import { downloadInto, FILE, file, HTTPS, KEY, started, through } from '../program/behind-proxy.ts';
import { certificatePath, tlsWith } from '../servers/certificates.ts';
import { startScripted } from '../servers/scripted.ts';
import { workplace } from './program.ts';

const TRUSTED = { NODE_EXTRA_CA_CERTS: certificatePath('own-name') };

async function download(url: string, env: Record<string, string>, more: string[] = []) {
  return downloadInto(await workplace(), url, env, more);
}

describe('https through a proxy', () => {
  test('a tunnel, in which alone the key goes', async () => {
    const { server, proxy } = await through(file);
    const auth = proxy.url.replace('http://', 'http://user:s%40cret@');
    const { exitCode, stderr, place } = await download(HTTPS, { HTTPS_PROXY: auth, ...TRUSTED });
    expect(exitCode, stderr).toBe(0);
    expect((await place.read('a.htm')).equals(FILE)).toBe(true);
    expect(proxy.requests.map(({ line }) => line)).toEqual(['CONNECT service.example:443 HTTP/1.1']);
    expect(proxy.requests[0]?.headers).toEqual({
      host: 'service.example:443',
      'proxy-authorization': `Basic ${Buffer.from('user:s@cret').toString('base64')}`,
    });
    expect(proxy.seen().includes(KEY)).toBe(false);
    expect(server.requests[0]?.headers).toMatchObject({ host: 'service.example', authorization: KEY });
    expect(server.requests[0]?.headers['proxy-authorization']).toBeUndefined();
    expect(stderr).not.toMatch(/s@cret|s%40cret/);
  });

  test('a proxy over TLS itself', async () => {
    const server = await started(startScripted(file, tlsWith('own-name')));
    const outer = await started(
      startScripted(async (socket) => {
        const { connect } = await import('node:net');
        const upstream = connect(server.port, '127.0.0.1').on('error', () => {});
        socket.removeAllListeners('data');
        socket.write('HTTP/1.1 200 OK\r\n\r\n');
        socket.pipe(upstream).pipe(socket);
      }, tlsWith('own-name')),
    );
    const { exitCode, stderr, place } = await download(HTTPS, { HTTPS_PROXY: outer.url, ...TRUSTED });
    expect(exitCode, stderr).toBe(0);
    expect((await place.read('a.htm')).equals(FILE)).toBe(true);
  });
});
