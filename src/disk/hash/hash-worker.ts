import { createHash } from 'node:crypto';
import { readSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import type { HashAnswer, HashOrder } from './following-hash.ts';

const READ_BYTES = 1 << 20;

// The thread of a FollowingHash: reads the file as far as it is told, and hashes it.
const fd = workerData as number;
const buffer = Buffer.allocUnsafe(READ_BYTES);
let hash = createHash('sha256');
let position = 0;

function readUpTo(end: number): void {
  while (position < end) {
    const bytes = readSync(fd, buffer, 0, Math.min(READ_BYTES, end - position), position);
    if (bytes === 0) return;
    hash.update(buffer.subarray(0, bytes));
    position += bytes;
  }
}

function answerTo(order: HashOrder): HashAnswer | undefined {
  if (order.kind === 'restart') {
    hash = createHash('sha256');
    position = 0;
    return undefined;
  }
  readUpTo(order.bytes);
  if (order.kind === 'reached') return undefined;
  return position === order.bytes ? { sha256: hash.copy().digest('hex') } : { missing: order.bytes - position };
}

parentPort?.on('message', (order: HashOrder) => {
  const answer = answerTo(order);
  if (answer) parentPort?.postMessage(answer);
});
