import { createHash, randomBytes } from 'node:crypto';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

const PIECE_BYTES = 1 << 18;
/**
 * The number of waits without a byte that count as a stop. A single wait may see nothing because this process was
 * paused.
 */
const QUIET_WAITS = 4;
const WAIT_MS = 100;

/** Counts the bytes that have left a server. */
export type Pump = ReturnType<typeof pump>;

/** Sends `total` random bytes piece by piece, each only when the kernel has taken the one before it. */
export function pump(socket: Socket, total: number) {
  const hash = createHash('sha256');
  const piece = randomBytes(PIECE_BYTES);
  let sent = 0;
  const next = () => {
    if (sent >= total) return;
    piece.writeUInt32LE(sent / PIECE_BYTES);
    hash.update(piece);
    socket.write(Buffer.from(piece), () => {
      sent += PIECE_BYTES;
      next();
    });
  };
  next();
  return {
    /** Waits until the peer takes no more. Returns how many bytes the kernel has taken until then. */
    async stopped() {
      for (let [before, quiet] = [sent, 0]; quiet < QUIET_WAITS; before = sent) {
        await sleep(WAIT_MS);
        quiet = sent === before ? quiet + 1 : 0;
      }
      return sent;
    },
    /** The SHA-256 of all bytes, once they are sent. */
    digest: () => hash.digest('hex'),
  };
}
