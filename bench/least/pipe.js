// A minimal download to a pipe in Node: the bytes of a socket are passed to stdout, over plain TCP in rotating buffers.
// Argument: URL.
import { connect } from 'node:net';
import { connect as connectTls } from 'node:tls';

const { protocol, hostname: host, port, pathname, search } = new URL(process.argv[2]);
const buffers = Array.from({ length: 16 }, () => Buffer.allocUnsafe(65_536));
let turn = 0;
let isHead = true;

/** Passes a chunk on. Returns false while stdout is full. */
function pass(chunk) {
  const body = isHead ? chunk.subarray(chunk.indexOf('\r\n\r\n') + 4) : chunk;
  isHead = false;
  return process.stdout.write(body);
}

const onread = {
  buffer: () => buffers[turn],
  callback(size, buffer) {
    turn = (turn + 1) % buffers.length;
    if (pass(buffer.subarray(0, size))) return true;
    process.stdout.once('drain', () => socket.resume());
    return false;
  },
};
const socket = protocol === 'https:' ? connectTls({ host, port }) : connect({ host, port, onread });
if (protocol === 'https:') socket.on('data', (chunk) => pass(chunk) || socket.pause());
if (protocol === 'https:') process.stdout.on('drain', () => socket.resume());
socket.write(`GET ${pathname}${search} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
