import { chmod } from 'node:fs/promises';
import { expect } from 'vitest';
import { ACCESSION, test as base, serviceAt, workplace } from '../cli/program.ts';
import { whole } from '../servers/answers.ts';
import { certificatePath, tlsWith } from '../servers/certificates.ts';
import { closedPort, scripted } from '../servers/scripted.ts';
import { content } from '../service/transfer-fixture.ts';
import { startDaemon } from './daemon.ts';

const FILE = content(3_000_000);
const RIGHT = 'user:pass%3Aw%40rd@';
const HELPER = '/usr/lib/squid/basic_ncsa_auth';

/** Only squid can resolve the name of the service. `directory` has its files. */
const configOf = (port: number, directory: string) => `
http_port 127.0.0.1:${port}
auth_param basic program ${HELPER} ${directory}/passwords
acl user proxy_auth REQUIRED
acl service dstdomain service.example
http_access deny !user
http_access allow CONNECT service
http_access deny all
hosts_file ${directory}/hosts
logformat each %rm %ru %>Hs %un
access_log stdio:${directory}/log/access.log each
cache_log ${directory}/log/cache.log
cache deny all
pid_filename none
pinger_enable off
shutdown_lifetime 0 seconds
max_filedescriptors 256
`;

/** Runs a program behind a squid that demands a password, and returns the requests to squid. */
const test = base.extend('squid', async () => {
  const [place, port] = [await workplace(), await closedPort()];
  const put = (name: string, text: string) => place.write(`../squid/${name}`, text, 0o644);
  await put('squid.conf', configOf(port, place.at('../squid')));
  await put('hosts', '127.0.0.1 service.example\n');
  // As root, squid changes to the user proxy.
  const made = await place.shell(`set -e; cd ../squid; mkdir log; [ $UID != 0 ] || chown proxy log
    echo "user:$(openssl passwd -apr1 'pass:w@rd')" > passwords`);
  expect(made.exitCode, made.stderr).toBe(0);
  await chmod(place.home, 0o755);
  await startDaemon(['squid', '-N', '-f', place.at('../squid/squid.conf')], port);
  return {
    ...place,
    /** Downloads three files, one after another, and returns the requests that squid logged. */
    async download(url: string, userInfo: string) {
      const proxy = {
        HTTPS_PROXY: `http://${userInfo}127.0.0.1:${port}`,
        NODE_EXTRA_CA_CERTS: certificatePath('own-name'),
      };
      const line = ['download', ACCESSION, 'a', 'b', 'c', '-j', '1', '--retries', '0'];
      const ended = await place.filings(line, { ...serviceAt(url), ...proxy });
      return { ...ended, connects: `${await place.read('../squid/log/access.log')}`.match(/CONNECT .*/g) ?? [] };
    },
  };
});

test('files come through one tunnel of squid, after Basic authentication', async ({ squid }) => {
  const { port, requests } = await scripted(whole(FILE), tlsWith('own-name'));
  const { exitCode, stderr, connects } = await squid.download(`https://service.example:${port}`, RIGHT);
  expect([exitCode, connects], stderr).toEqual([0, [`CONNECT service.example:${port} 200 user`]]);
  for (const name of ['a', 'b', 'c']) expect((await squid.read(name)).equals(FILE)).toBe(true);
  expect(requests.map(({ headers }) => headers['proxy-authorization'])).toEqual([undefined, undefined, undefined]);
});

test.for`
  what                  | host                 | user          | status | connects | exit | hint
  ${'no password'}      | ${'service.example'} | ${''}         | ${407} | ${1}     | ${4} | ${'put USER:PASSWORD@ before the host in HTTPS_PROXY'}
  ${'a wrong password'} | ${'service.example'} | ${'user:no@'} | ${407} | ${1}     | ${4} | ${'check the user and password in HTTPS_PROXY'}
  ${'a forbidden host'} | ${'other.example'}   | ${RIGHT}      | ${403} | ${1}     | ${4} | ${'ask its operator to allow other.example'}
  ${'a dead service'}   | ${'service.example'} | ${RIGHT}      | ${503} | ${3}     | ${7} | ${'check HTTPS_PROXY'}
`('squid refuses $what with $status: exits with $exit', async (row: Row, { squid }) => {
  const { exitCode, stderr, connects } = await squid.download(`https://${row.host}:${await closedPort()}`, row.user);
  expect([exitCode, connects.length], stderr).toEqual([row.exit, row.connects]);
  for (const words of [`refused with ${row.status}`, `hint: ${row.hint}`]) expect(stderr).toContain(words);
  expect(stderr).not.toContain('w@rd');
});

type Row = { host: string; user: string; status: number; connects: number; exit: number; hint: string };
