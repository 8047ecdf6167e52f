import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { head, sendFile } from '../servers/answers.ts';
import { startScripted } from '../servers/scripted.ts';
import { content } from '../service/transfer-fixture.ts';
import { ACCESSION, serviceAt, workplace } from './program.ts';

// Batch clusters limit the address space, of which Node reserves 10 GiB for the memory of the HTTP parser.
const FILE = content(3_000_000);
const LIMITED = 'ulimit -v 8000000';

/** The signal that is passed on comes apart from the first one, and while that is still at work: the file tells when it was. */
const apart = (passedOn: string) => `const { existsSync, writeFileSync } = require('node:fs');
const isStarted = process.execArgv.includes('--disable-wasm-trap-handler');
process.once('SIGTERM', () => {
  if (isStarted) while (!existsSync(${JSON.stringify(passedOn)}));
  else for (const start = Date.now(); Date.now() - start < 100; );
  if (!isStarted) setImmediate(() => writeFileSync(${JSON.stringify(passedOn)}, ''));
});`;

async function service(cut = false) {
  const server = await startScripted((socket, request) => {
    if (!cut || request.index > 0) return sendFile(socket, request, FILE, '"v1"');
    socket.write(head(200, { 'Content-Length': FILE.length, ETag: '"v1"' }));
    socket.write(FILE.subarray(0, 2_000_000));
  });
  onTestFinished(() => server.close());
  return { server, place: await workplace() };
}

describe.runIf(process.platform === 'linux')('under a limit of 8 GB', () => {
  test.each<[string, string]>([
    ['to disk', 'a.htm && cat a.htm'],
    ['into a pipe', 'a.htm -o - | cat'],
    ['with a hash', `a.htm --sha256 ${createHash('sha256').update(FILE).digest('hex')} && cat a.htm`],
    ['into a descriptor', 'a.htm -o /dev/fd/3 3> out; cat out'],
    ['with a key from a descriptor', 'a.htm --api-key-file <(echo a-key) && cat a.htm'],
  ])('a file comes %s', async (_, rest) => {
    const { server, place } = await service();
    const env = { FILINGS_BASE_URL: server.url, ...(rest.includes('api-key') ? {} : serviceAt(server.url)) };
    const { exitCode, stdout, stderr } = await place.shell(
      `set -o pipefail; ${LIMITED}; $FILINGS download ${ACCESSION} ${rest}`,
      env,
    );
    expect([exitCode, stdout.equals(FILE)], stderr).toEqual([0, true]);
    expect(server.requests).toHaveLength(1);
  });

  test('the exit status is the program’s own', async () => {
    const { place } = await service();
    const { exitCode, stderr } = await place.shell(`${LIMITED}; exec $FILINGS download`);
    expect(exitCode, stderr).toBe(2);
  });

  test.each<[string, string]>([
    ['to it alone', '$!'],
    ['to its group, as Ctrl-C and job schedulers do', '-$!'],
  ])('a signal %s ends it once: the part stays for the next run', async (_, whom) => {
    const { server, place } = await service(true);
    const path = join(place.home, 'apart.cjs');
    await writeFile(path, apart(join(place.home, 'passed-on')));
    const { stdout, stderr } = await place.shell(
      `set -m
      (${LIMITED}; exec $FILINGS download ${ACCESSION} a.htm) &
      until [ "$(cat .a.htm.*.part 2>/dev/null | wc -c)" = 2000000 ]; do sleep 0.05; done
      kill -TERM -- ${whom}
      wait $!
      echo $?`,
      { ...serviceAt(server.url), NODE_OPTIONS: `--require ${path}` },
    );
    expect(`${stdout}`.trim(), stderr).toBe('143');
    // Told, as only the first signal is: a second quits at once.
    expect(stderr).toMatch(/interrupted: SIGTERM/);
    expect(await place.names()).toHaveLength(2);
    const again = await place.filings(['download', ACCESSION, 'a.htm'], serviceAt(server.url));
    expect(again.exitCode, again.stderr).toBe(0);
    expect(server.requests.at(-1)?.headers.range).toBe('bytes=2000000-');
  });

  test('where the memory can’t be had even so: exit 8 at the first try, and the limit is named', async () => {
    const { server, place } = await service();
    // Looks as if Node had the flag already.
    const env = { ...serviceAt(server.url), NODE_OPTIONS: '--title=--disable-wasm-trap-handler' };
    const { exitCode, stderr } = await place.shell(`${LIMITED}; exec $FILINGS download ${ACCESSION} a b c -j 1`, env);
    expect(exitCode, stderr).toBe(8);
    expect(stderr).toMatch(/address space/);
    expect(stderr).toMatch(/ulimit -v/);
    expect(stderr).toMatch(/left undone/);
    expect(await place.names()).toEqual([]);
  });
});
