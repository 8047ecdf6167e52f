import { expect, onTestFinished, test } from 'vitest';
import { startProxy } from '../servers/proxy.ts';
import { verdictsIn } from './config-verdicts.ts';
import { workplace } from './run.ts';

const check = async (url: string, env: Record<string, string> = {}) => verdictsIn(await workplace(), url, env);

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
