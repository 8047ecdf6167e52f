import { chmod, mkdtemp, open, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { BIN, NODE } from '../program.ts';

/** The clock of the program that is `filings` in the PATH of `env`. */
export interface Clock {
  readonly env: Readonly<Record<string, string>>;
  /** Seconds since the start. */
  seconds(): number;
  goTo(seconds: number): Promise<void>;
}

/** Starts a clock that moves only by `goTo`. It exists until the end of the test. */
export async function startClock(): Promise<Clock> {
  const folder = await mkdtemp(join(tmpdir(), 'filings-clock-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const path = join(folder, 'clock');
  await writeFile(path, new Float64Array(1));
  const file = await open(path, 'r+');
  onTestFinished(() => file.close());
  const filings = join(folder, 'filings');
  await writeFile(
    filings,
    `#!/bin/sh\nexec '${NODE}' --require '${join(import.meta.dirname, 'clock.cjs')}' '${BIN}' "$@"\n`,
  );
  await chmod(filings, 0o755);
  let now = 0;
  return {
    env: { PATH: `${folder}:${process.env.PATH}`, SCREEN_CLOCK: path },
    seconds: () => now,
    async goTo(seconds) {
      now = seconds;
      await file.write(new Float64Array([seconds * 1000]), 0, 8, 0);
    },
  };
}
