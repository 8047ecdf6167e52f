import { onTestFinished } from 'vitest';
import { type Fields, head } from './answers.ts';
import { startScripted } from './scripted.ts';

/** A service whose every answer is this body, on a connection that ends with it; `gone` settles at that end. */
export async function startOneBody(
  body: string | Buffer,
  fields: Fields = { 'Content-Length': Buffer.byteLength(body) },
) {
  let resolve = () => {};
  const gone = new Promise<void>((done) => {
    resolve = done;
  });
  const server = await startScripted((socket) => {
    socket.once('close', resolve);
    socket.write(head(200, { Connection: 'close', ...fields }));
    socket.write(body);
  });
  onTestFinished(() => server.close());
  return { url: server.url, gone };
}
