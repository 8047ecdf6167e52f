import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { startOneBody } from '../servers/one-body.ts';
import { ACCESSION, workplace } from './program.ts';

const probes = async (line: string) =>
  promisify(execFile)('bash', ['-c', line]).then(
    () => true,
    () => false,
  );
const mounts = await probes('unshare -Urm true && test -x /usr/bin/getent');
const networks = mounts && (await probes('unshare -Urmn ip link set lo up'));
const LIST = `list ${ACCESSION} --retries 0`;
const KEY = { FILINGS_API_KEY: 'a-key-of-the-test' };

// A network of its own, in which the one name server takes every question and answers none: for minutes, as it is set.
const SILENT = `ip link set lo up
echo 'nameserver 127.0.0.1
options timeout:30 attempts:5' > resolv.conf
mount --bind resolv.conf /etc/resolv.conf || exit 99
mkfifo ready
node -e 'require("node:dgram").createSocket("udp4").bind(53, "127.0.0.1", () => require("node:fs").writeFileSync("ready", "x"))' & server=$!
trap 'kill $server' EXIT
cat ready > asked`;

describe.skipIf(!networks)('a name server that never answers', () => {
  test.each([
    ['the deadline', `${LIST} --deadline 1s`, /the deadline of 1 s has passed/],
    ['the connect timeout', `${LIST} --connect-timeout 1s`, /connecting timed out/],
  ])('holds nothing beyond %s', async (_what, args, said) => {
    const place = await workplace();
    const inside = `${SILENT}\n$FILINGS ${args} --base-url https://api.example.com; echo "exit $?"`;
    const { stdout, stderr } = await place.shell(`FILINGS="$FILINGS" unshare -Urmn bash -c '${quoted(inside)}'`, KEY);
    expect([stdout.toString(), stderr]).toEqual(['exit 7\n', expect.stringMatching(said)]);
  });

  test('holds nothing beyond a signal', async () => {
    const place = await workplace();
    const inside = `${SILENT}
$FILINGS ${LIST} --base-url https://api.example.com & program=$!
until pgrep -P $program getent > asked; do sleep 0.1; done
kill -TERM $program
wait $program; echo "exit $?"`;
    const { stdout, stderr } = await place.shell(`FILINGS="$FILINGS" unshare -Urmn bash -c '${quoted(inside)}'`, KEY);
    expect([stdout.toString(), stderr]).toEqual(['exit 143\n', 'filings: interrupted: SIGTERM\n']);
  });
});

test.skipIf(!mounts)('a name is looked up as the system does: in its file of hosts, too', async () => {
  const server = await startOneBody('["a.htm"]');
  const place = await workplace();
  const url = `http://api.example.com:${new URL(server.url).port}`;
  const inside = `echo "127.0.0.1 api.example.com" > hosts; mount --bind hosts /etc/hosts || exit 99
$FILINGS ${LIST} --allow-http --base-url ${url}`;
  const { stdout, stderr } = await place.shell(`FILINGS="$FILINGS" unshare -Urm bash -c '${quoted(inside)}'`, KEY);
  expect([stdout.toString(), stderr]).toEqual(['a.htm\n', '']);
});

test('a name that nobody has is told as such', async () => {
  const place = await workplace();
  const { exitCode, stderr } = await place.filings([...LIST.split(' '), '--base-url', 'https://nobody.invalid'], KEY);
  expect([exitCode, stderr]).toEqual([
    7,
    expect.stringMatching(/nobody\.invalid: the name (does not resolve|could not be)/),
  ]);
});

function quoted(script: string): string {
  return script.replaceAll("'", `'\\''`);
}
