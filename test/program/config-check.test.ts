import { expect, onTestFinished, test } from 'vitest';
import { startProxy } from '../servers/proxy.ts';
import { serviceAt, workplace } from './run.ts';

/** What `config check` says of each part. */
async function check(url: string, env: Record<string, string> = {}) {
  const place = await workplace();
  const { exitCode, stdout, stderr } = await place.filings(['config', 'check'], { ...serviceAt(url), ...env });
  const lines = stdout.toString().trimEnd().split('\n');
  const verdicts = Object.fromEntries(lines.map((line) => line.split('\t').slice(0, 2)));
  return { exitCode, stderr, verdicts };
}

test.each([403, 407, 503])(
  'config check says nothing of the certificate, when a proxy refuses with %s',
  async (status) => {
    const proxy = await startProxy(1, () => `HTTP/1.1 ${status} No\r\n\r\n`);
    onTestFinished(() => proxy.close());
    const { exitCode, stderr, verdicts } = await check('https://service.example', { HTTPS_PROXY: proxy.url });
    expect(verdicts).toMatchObject({ address: 'wrong', certificate: 'unknown', key: 'unknown' });
    expect(stderr).toContain(`refused with ${status}`);
    expect(exitCode).toBe(7);
  },
);
