// Runs `verify`: takes directories, hashes what their SHA256SUMS list, prints each difference as soon as it is found,
// and throws the error that sums them up. The file system calls are synchronous, because that is
// faster for thousands of small files.
import { FINAL_OUTPUT_GRACE_MS, MAX_SLICE_MS, within, yieldToEventLoop } from '../../abort.ts';
import { findDirectories, type Roots, rootsOf } from '../../checksums/find.ts';
import { type OnProgress, verifyDirectory } from '../../checksums/verify.ts';
import { FilingsError } from '../../errors.ts';
import { hintOf } from '../../session/hints.ts';
import { resolveSettings } from '../../settings/resolve.ts';
import type { Invocation } from '../../spec/command.ts';
import { stdoutWriter } from '../../stdio/byte-writer.ts';
import { createProgress } from '../../terminal/progress.ts';
import type { World } from '../../world.ts';
import { collectFindings, type Findings, summaryText, verifyError } from './findings.ts';
import type { OPTIONS } from './spec.ts';

/** Verifies the directories. Returns 0, or throws the error of the run. */
export async function run({ args, options, flags }: Invocation<typeof OPTIONS>, world: World): Promise<number> {
  const { monotonic, sleep, interrupt: signal } = world;
  const resolved = await resolveSettings(flags, world);
  world.setDeadline(resolved.settings.deadline);
  const progress = await createProgress({ ...resolved.settings, hintOf }, world);
  // A reader that closes the pipe fails the run, unlike that of a listing: the lines that are lost may be the important
  // ones.
  const stdout = stdoutWriter(world);
  const print = async (text: string, until: AbortSignal) => {
    if (text === '') return;
    if (world.stdout.isTTY) progress.clearForOutput();
    await stdout.write([Buffer.from(text)], until);
  };
  const findings = collectFindings(progress, options.json, args);
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
    const roots = await rootsOf(args, world);
    const stoppedBy = await verifyAll(roots, world.platform, findings, onProgress).catch((error: unknown) => {
      if (signal.aborted && signal.reason instanceof FilingsError) return signal.reason;
      throw error;
    });
    // The findings so far are printed even if a signal or the deadline stops the run.
    const failure = stoppedBy ? undefined : verifyError(findings, args);
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
  roots: Roots,
  platform: string,
  findings: Findings,
  onProgress: OnProgress,
): Promise<undefined> {
  for await (const entry of findDirectories(roots, platform, onProgress)) {
    if ('result' in entry) findings.add(entry);
    else {
      findings.counts.directories += 1;
      for await (const finding of verifyDirectory(entry, onProgress)) findings.add(finding);
    }
  }
}
