// A minimal download to a pipe in Node: reads of a socket are passed to stdout, in rotating buffers. Argument: URL.
import { connect } from 'node:net';

const { hostname, port, pathname, search } = new URL(process.argv[2]);
const buffers = Array.from({ length: 16 }, () => Buffer.allocUnsafe(65_536));
let turn = 0;
let isHead = true;
const socket = connect({
  host: hostname,
  port,
  onread: {
    buffer: () => buffers[turn],
    callback(size, buffer) {
      turn = (turn + 1) % buffers.length;
      const chunk = buffer.subarray(isHead ? buffer.indexOf('\r\n\r\n') + 4 : 0, size);
      isHead = false;
      if (process.stdout.write(chunk)) return true;
      process.stdout.once('drain', () => socket.resume());
      return false;
    },
  },
});
socket.write(`GET ${pathname}${search} HTTP/1.1\r\nHost: ${hostname}\r\nConnection: close\r\n\r\n`);
