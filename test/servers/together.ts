import { head } from './answers.ts';
import { startScripted } from './scripted.ts';

/**
 * A service of one file, which answers as many requests together as `gate.together` says: their runs reach for
 * the name at once.
 */
export async function startTogether(file: Buffer) {
  const gate = { together: 1 };
  let waiting: (() => void)[] = [];
  const server = await startScripted(async (socket) => {
    await new Promise<void>((resolve) => {
      waiting.push(resolve);
      if (waiting.length < gate.together) return;
      for (const goOn of waiting) goOn();
      waiting = [];
    });
    socket.write(head(200, { ETag: '"v1"', 'Content-Length': file.length }));
    socket.write(file);
  });
  return { server, gate };
}
