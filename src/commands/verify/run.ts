// Runs `verify`: takes directories, hashes what their SHA256SUMS list, prints each difference as soon as it is found,
// and throws the error that sums them up. The file system calls are synchronous, because that is
// faster for thousands of small files.
import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { FINAL_OUTPUT_GRACE_MS, MAX_SLICE_MS, within, yieldToEventLoop } from '../../abort.ts';
import { findDirectories } from '../../checksums/find.ts';
import { type OnProgress, verifyDirectory } from '../../checksums/verify.ts';
import { systemReason } from '../../disk/failure.ts';
import { FilingsError } from '../../errors.ts';
import { resolveSettings } from '../../settings/resolve.ts';
import type { Invocation } from '../../spec/command.ts';
import { stdoutWriter } from '../../stdio/byte-writer.ts';
import { createProgress } from '../../terminal/progress.ts';
import type { World } from '../../world.ts';
import { collectFindings, type Findings, summaryText } from './findings.ts';
import type { OPTIONS } from './spec.ts';

/** Verifies the directories. Returns 0, or throws the error of the run. */
export async function run({ args, options, flags }: Invocation<typeof OPTIONS>, world: World): Promise<number> {
  const { monotonic, sleep, interrupt: signal } = world;
  const resolved = await resolveSettings(flags, world);
  const progress = await createProgress({ ...resolved.settings }, world);
  // A reader that closes the pipe fails the run, unlike that of a listing: the lines that are lost may be the important
  // ones.
  const stdout = stdoutWriter(world);
  const print = async (text: string, until: AbortSignal) => {
    if (text === '') return;
    if (world.stdout.isTTY) progress.clearForOutput();
    await stdout.write([Buffer.from(text)], until);
  };
  const findings = collectFindings(progress, options.json, args, world.platform);
  const startedAt = monotonic();
  let sliceStartedAt = startedAt;
  const onProgress = async (hashed = 0) => {
    if (hashed > 0) findings.hashed(hashed);
    if (monotonic() - sliceStartedAt < MAX_SLICE_MS) return;
    signal.throwIfAborted();
    await print(findings.takeLines(), signal);
    await yieldToEventLoop(signal);
    sliceStartedAt = monotonic();
  };
  try {
    for (const root of args) requireDirectory(root, world.cwd);
    const stoppedBy = await verifyAll(args, world, findings, onProgress).catch((error: unknown) => {
      if (signal.aborted && signal.reason instanceof FilingsError) return signal.reason;
      throw error;
    });
    // The findings so far are printed even if a signal or the deadline stops the run.
    const failure = stoppedBy ? undefined : findings.error();
    const error = stoppedBy ?? failure;
    const lines = findings.finish(monotonic() - startedAt, error);
    if (stoppedBy) await within(FINAL_OUTPUT_GRACE_MS, sleep, (until) => print(lines, until));
    else await print(lines, signal);
    // The message of a failure is the same summary.
    if (!failure) progress.note(summaryText(findings.counts));
    if (error) throw error;
    return 0;
  } finally {
    progress.stop();
  }
}

/** Adds the findings of all directories to `findings`. Throws the signal's reason. */
async function verifyAll(
  roots: readonly string[],
  { cwd, platform }: Pick<World, 'cwd' | 'platform'>,
  findings: Findings,
  onProgress: OnProgress,
): Promise<undefined> {
  for await (const entry of findDirectories(roots, cwd, onProgress)) {
    if ('result' in entry) findings.add(entry);
    else {
      findings.counts.directories += 1;
      for await (const finding of verifyDirectory(entry, platform, onProgress)) findings.add(finding);
    }
  }
}

function requireDirectory(path: string, cwd: string): void {
  try {
    statSync(path && `${resolve(cwd, path)}/.`);
  } catch (cause) {
    throw new FilingsError('usage', `cannot be opened: ${systemReason(cause)}`, {
      subject: { path: path || "''" },
      hint: 'name the directory that was downloaded to',
      cause,
    });
  }
}
