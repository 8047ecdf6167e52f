import { chmod, mkdtemp, open, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { BIN, NODE } from '../program.ts';

/** Starts a clock that moves only by `goTo`, for the program that is `filings` in the PATH of `env`. */
export async function startClock() {
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
    /** Seconds since the start. */
    seconds: () => now,
    async goTo(seconds: number) {
      now = seconds;
      await file.write(new Float64Array([seconds * 1000]), 0, 8, 0);
    },
  };
}
