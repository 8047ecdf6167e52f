import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { workplace } from './program.ts';

/** Prints Node's own modules that the process has loaded when it ends. */
const TELLS_LOADED = `process.on('exit', () => process._rawDebug(process.moduleLoadList.join('\\n')));`;

test.each(['--version', '--help', 'download --help', 'completion bash', '__complete token --'])(
  'filings %s reads no config file, and loads neither HTTP nor cryptography',
  async (line) => {
    const place = await workplace();
    const hook = join(place.home, 'hook.cjs');
    await writeFile(hook, TELLS_LOADED);
    await writeFile(join(place.home, 'config.json'), 'no JSON');
    const env = { FILINGS_CONFIG: join(place.home, 'config.json'), NODE_OPTIONS: `--require ${hook}` };
    const { exitCode, stdout, stderr } = await place.filings(line.split(' '), env);
    expect([exitCode, stdout.length > 0]).toEqual([0, true]);
    expect(stderr).not.toMatch(/^(?!NativeModule |Internal Binding )./m);
    expect(stderr).toContain('NativeModule v8\n');
    for (const name of ['http', 'tls', 'crypto', 'dns', 'child_process'])
      expect(stderr).not.toContain(`NativeModule ${name}\n`);
  },
);
