import { Writable } from 'node:stream';
import type { OutputStream } from '../../world.ts';
import type { Screen } from './screen.ts';

/** Standard output on a terminal on which lines move, too: they make way for what is written. */
export function beside(stdout: OutputStream, screen: Screen): OutputStream {
  const shared = new Writable({
    write(bytes: Buffer, _encoding, written) {
      screen.makeWay(bytes);
      stdout.write(bytes, written);
    },
  });
  return Object.defineProperties(shared, {
    fd: { get: () => stdout.fd },
    isTTY: { value: true },
    columns: { get: () => stdout.columns },
  });
}
