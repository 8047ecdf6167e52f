import { describe, expect, it } from 'vitest';
import { ACCESSION, serve, workplace } from './program.ts';

const LISTING = `/v1/filings?accession_no=${ACCESSION}`;

describe('filings serve', () => {
  it.each(['SIGTERM', 'SIGINT'] as const)('serves the samples with the default key until %s', async (signal) => {
    const { url, log, kill, ended } = await serve();
    const status = async (target: string, headers = {}) => (await fetch(url + target, { headers })).status;
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(await status(LISTING, { Authorization: 'sandbox-key' })).toBe(200);
    expect(await status(`${LISTING}&apikey=sandbox-key`)).toBe(200);
    expect(await status(LISTING)).toBe(401);
    kill(signal);
    expect(await ended).toMatchObject({ exitCode: 0, killedBy: undefined });
    expect(log()).toMatch(/key=query 200/);
    const requests = log()
      .split('\n')
      .filter((line) => line.includes(' GET /'));
    expect(requests).toHaveLength(3);
    expect(requests.join()).not.toContain('sandbox-key');
  });

  it('ends when its address cannot be written', async () => {
    const { shell } = await workplace();
    const { exitCode, stderr } = await shell('exec $FILINGS serve --port 0 > /dev/full');
    expect([exitCode, stderr]).toEqual([8, expect.stringContaining('filings: stdout: ')]);
  });
});
