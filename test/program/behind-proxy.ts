import { expect, onTestFinished } from 'vitest';
import { sendFile } from '../servers/answers.ts';
import { tlsWith } from '../servers/certificates.ts';
import { startProxy } from '../servers/proxy.ts';
import { type Script, startScripted } from '../servers/scripted.ts';
import { content } from '../service/transfer-fixture.ts';
import { ACCESSION, type Place, serviceAt } from './place.ts';
import type { Ended } from './run.ts';

// Loopback is never proxied: the service has a name that only the proxy knows.
export const HTTPS = 'https://service.example';
export const FILE = content(1_500_000);
export const KEY = 'canary-key-for-the-service';
export const file: Script = (socket, request) => sendFile(socket, request, FILE, '"v1"');

interface Workplace extends Place {
  filings(args: readonly string[], env: Record<string, string>): Promise<Ended>;
}

/** Until the test has ended. */
export async function started<T extends { close(): Promise<void> }>(server: Promise<T>): Promise<T> {
  const running = await server;
  onTestFinished(() => running.close());
  return running;
}

/** A service that speaks TLS, and a proxy that leads to it. */
export async function through(script: Script, refuse?: Parameters<typeof startProxy>[1]) {
  const server = await started(startScripted(script, tlsWith('own-name')));
  return { server, proxy: await started(startProxy(server.port, refuse)) };
}

/** Downloads a file into a place, with a key that is never told. */
export async function downloadInto(place: Workplace, url: string, env: Record<string, string>, more: string[] = []) {
  const args = ['download', ACCESSION, 'a.htm', '-v', ...more];
  const ended = await place.filings(args, { ...serviceAt(url, KEY), FILINGS_ALLOW_HTTP: '1', ...env });
  expect(ended.stderr).not.toContain(KEY);
  return { ...ended, place };
}
