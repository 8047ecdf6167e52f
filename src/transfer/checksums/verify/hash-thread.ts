import { createHash, hash } from 'node:crypto';
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { parentPort } from 'node:worker_threads';
import { bytesOf } from '../../../disk/byte-text.ts';
import { errnoOf } from '../../../errors.ts';
import type { Found, HashMessage, HashOrder } from './hash-order.ts';

// A thread of HashThreads: reads files synchronously, a third of the time that asynchronous reads take.
const { O_NOCTTY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;
/** No link is followed, and nothing waited for: whatever stands there instead of the file is not it. */
const READING = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
const buffer = Buffer.allocUnsafeSlow(1 << 20);
/** After so many bytes of a large file the others are told. */
const TELL_EVERY_BYTES = 32 << 20;
/** What open(2) says of links, and of sockets. */
const NO_FILE = new Set(['ELOOP', 'EMLINK', 'ENXIO', 'EOPNOTSUPP']);

// What is read is short-lived: more room for new objects would take the process 10 to 25 MB, and save no time that can be
// measured. Said here, since V8 takes it back whenever a thread starts.
setFlagsFromString('--semi-space-growth-factor=1');

let hashed = 0;

function check(path: Buffer, sha256: string, alone: boolean): Found {
  let fd: number;
  try {
    fd = openSync(path, READING);
  } catch (error) {
    return absent(error);
  }
  try {
    const { size, mode } = fstatSync(fd);
    if ((mode & constants.S_IFMT) !== constants.S_IFREG) return 'changed';
    if (size > buffer.length && !alone) return 'large';
    return (size > buffer.length ? ofLarge(fd) : ofSmall(fd)) === sha256 ? 'same' : 'changed';
  } catch (error) {
    return { errno: errnoOf(error) ?? 'unknown error' };
  } finally {
    closeSync(fd);
  }
}

function absent(error: unknown): Found {
  const errno = errnoOf(error) ?? 'unknown error';
  if (errno === 'ENOENT' || errno === 'ENAMETOOLONG') return 'missing';
  return NO_FILE.has(errno) ? 'changed' : { errno };
}

/** One that grows out of the buffer meanwhile is hashed as far as it fits: it is not what was listed. */
function ofSmall(fd: number): string {
  let length = 0;
  for (;;) {
    const bytes = readSync(fd, buffer, length, buffer.length - length, null);
    length += bytes;
    if (bytes === 0 || length === buffer.length) break;
  }
  hashed += length;
  return hash('sha256', buffer.subarray(0, length));
}

function ofLarge(fd: number): string {
  const sum = createHash('sha256');
  let untold = 0;
  for (;;) {
    const bytes = readSync(fd, buffer, 0, buffer.length, null);
    if (bytes === 0) break;
    sum.update(buffer.subarray(0, bytes));
    untold += bytes;
    if (untold < TELL_EVERY_BYTES) continue;
    tell({ moved: untold });
    untold = 0;
  }
  hashed += untold;
  return sum.digest('hex');
}

function tell(message: HashMessage): void {
  parentPort?.postMessage(message);
}

parentPort?.on('message', ({ directory, names, sha256 }: HashOrder) => {
  hashed = 0;
  const alone = names.length === 1;
  const found = names.map((name, index) => check(bytesOf(`${directory}/${name}`), sha256[index] ?? '', alone));
  tell({ found, bytes: hashed });
});
