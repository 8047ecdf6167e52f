import { expect } from 'vitest';
import { test } from './program.ts';

/** Prints Node's own modules that the process has loaded when it ends. */
const TELLS_LOADED = `process.on('exit', () => process._rawDebug(process.moduleLoadList.join('\\n')));`;

test.for(['--version', 'download --help', 'completion bash', '__complete token --'])(
  'filings %s reads no config file, and loads neither HTTP nor cryptography',
  async (line, { place }) => {
    const env = { FILINGS_CONFIG: await place.write('config.json', 'no JSON'), ...(await place.hook(TELLS_LOADED)) };
    const { exitCode, stdout, stderr } = await place.filings(line.split(' '), env);
    expect([exitCode, stdout.length > 0]).toEqual([0, true]);
    expect(stderr).not.toMatch(/^(?!NativeModule |Internal Binding )./m);
    expect(stderr).toContain('NativeModule path\n');
    expect(stderr).not.toMatch(/^NativeModule (http|tls|crypto|dns|child_process|v8)$/m);
  },
);
