import { expect, it, onTestFinished } from 'vitest';
import { head } from '../servers/answers.ts';
import { startScripted } from '../servers/scripted.ts';
import { ACCESSION, serviceAt, workplace } from './program.ts';

const LARGEST = 16 << 20;

/** A service whose every answer is this body, on a connection that ends with it. */
async function service(body: string | Buffer, fields = { 'Content-Length': Buffer.byteLength(body) }) {
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
  return { env: serviceAt(server.url), gone };
}

it('Ctrl-C has its turn while the largest is read', async () => {
  const { start } = await workplace();
  // At its end it turns out to be no JSON: whoever reads it to there exits with 9.
  const values = '{"a":"bcd"},'.repeat(390_000);
  const { env, gone } = await service(`[${values}${' '.repeat(LARGEST - values.length - 2)}x`);
  const run = start(['list', ACCESSION], env);
  // The whole body has arrived.
  await gone;
  run.kill('SIGINT');
  const { exitCode, stdout } = await run.ended;
  expect({ exitCode, stdout: stdout.toString() }).toEqual({ exitCode: 130, stdout: '' });
});
