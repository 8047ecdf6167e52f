// The servers of the benchmark: nginx over a folder, and special servers that nginx cannot provide.
import { spawn, spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { connect, createServer as createTcpServer } from 'node:net';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';

/**
 * Starts nginx, which serves `root`/v1/NAME as /v1/download?file_name=NAME, also over TLS if there is a certificate.
 * `stop` ends it.
 */
export async function startNginx(root, folder, certificate) {
  const [port, tlsPort] = [await freePort(), await freePort()];
  const tls =
    certificate &&
    `
        listen 127.0.0.1:${tlsPort} ssl; ssl_certificate ${certificate.cert}; ssl_certificate_key ${certificate.key};`;
  await mkdir(folder, { recursive: true });
  const scratch = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((of) => `${of}_temp_path ${folder}/${of};`);
  const config = `
    ${process.getuid?.() === 0 ? 'user root;' : ''}
    daemon off; worker_processes 1; pid ${folder}/pid; error_log ${folder}/error.log;
    events { worker_connections 1024; }
    http {
      access_log off; sendfile on; tcp_nopush on; keepalive_requests 100000; ${scratch.join(' ')}
      server {
        listen 127.0.0.1:${port}; root ${root};${tls ?? ''}
        location = /v1/download { try_files /v1/$arg_file_name =404; }
      }
    }`;
  const path = join(folder, 'nginx.conf');
  await writeFile(path, config);
  const child = spawn('nginx', ['-e', `${folder}/error.log`, '-c', path], { stdio: 'inherit' });
  const kill = () => child.kill('SIGTERM');
  process.once('exit', kill);
  await answering(port, child);
  return {
    url: `http://127.0.0.1:${port}`,
    tlsUrl: `https://localhost:${tlsPort}`,
    async stop() {
      process.off('exit', kill);
      kill();
      if (child.exitCode === null) await once(child, 'exit');
    },
  };
}

/**
 * Serves any number of filings with `each` files of `bytes` bytes, each answer after `latencyMs`. Every second file is a
 * .htm. Request number `limitedAt` since `begin` is answered with 429.
 */
export async function startArchive({ each, bytes, latencyMs = 0, limitedAt }) {
  const names = Array.from({ length: each }, (_, file) => `f${file}.${file % 2 === 0 ? 'htm' : 'xml'}`);
  const body = Buffer.alloc(bytes, 'x');
  let requests = 0;
  const server = await listening(
    createServer((request, response) => {
      requests += 1;
      const { searchParams } = new URL(request.url, 'http://archive');
      const accession_no = searchParams.get('accession_no');
      const files = () => names.map((file_name) => ({ accession_no, file_name, size: bytes }));
      const listing = () => Buffer.from(JSON.stringify({ total: names.length, files: files() }));
      const answer = searchParams.has('file_name') ? body : listing();
      if (requests === limitedAt) response.writeHead(429, { 'Retry-After': '1', 'Content-Length': 0 }).end();
      else setTimeout(() => response.writeHead(200, { 'Content-Length': answer.length }).end(answer), latencyMs);
    }),
  );
  return {
    ...server,
    names,
    accession: (filing) => `0001234567-24-${String(filing + 1).padStart(6, '0')}`,
    begin(passed) {
      requests = 0;
      return passed;
    },
  };
}

/** Returns a new certificate for localhost, or undefined if openssl is missing. */
export function makeCertificate(folder) {
  const [cert, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
  const names = 'subjectAltName=DNS:localhost,IP:127.0.0.1';
  const made = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
  const args = ['req', ...made, '-subj', '/CN=localhost', '-addext', names, '-keyout', key, '-out', cert];
  return spawnSync('openssl', args).status === 0 ? { cert, key } : undefined;
}

/**
 * Serves one file of `size` zeros with ranges, and cuts a response without a range after `cutAt` bytes. Counts the sent
 * bytes.
 */
export async function startCutting(size, cutAt) {
  const block = Buffer.alloc(1 << 20);
  const counted = { sent: 0 };
  const server = createServer(async (request, response) => {
    const from = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1] ?? 0);
    const end = from === 0 ? cutAt : size;
    response.writeHead(from === 0 ? 200 : 206, {
      ETag: '"bench"',
      'Content-Length': size - from,
      ...(from === 0 ? {} : { 'Content-Range': `bytes ${from}-${size - 1}/${size}` }),
    });
    const blocks = async function* () {
      for (let at = from; at < end; at += block.length) {
        const part = block.subarray(0, Math.min(block.length, end - at));
        counted.sent += part.length;
        yield part;
      }
    };
    await pipeline(blocks, response, { end: false }).catch(() => {});
    if (from === 0) response.socket?.end();
    else response.end();
  });
  return { ...(await listening(server)), counted };
}

async function listening(server) {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** A free port below those that the system assigns, so that no other process gets it before nginx. */
async function freePort() {
  for (;;) {
    const port = randomInt(10_000, 32_768);
    const server = createTcpServer();
    const isFree = await new Promise((resolve) => {
      server.once('error', () => resolve(false));
      server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
    });
    if (isFree) return port;
  }
}

async function answering(port, child) {
  for (let tries = 0; tries < 600; tries += 1) {
    if (child.exitCode !== null) break;
    const socket = connect(port, '127.0.0.1');
    const answered = await Promise.race([
      once(socket, 'connect').then(() => true),
      once(socket, 'error').then(() => false),
    ]).catch(() => false);
    socket.destroy();
    if (answered) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error('nginx did not start');
}
