import { FINAL_OUTPUT_GRACE_MS, within, yieldToEventLoop } from '../../abort.ts';
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

/** So long the synchronous work goes on before signals, timers and progress have their turn. */
const SLICE_MS = 10;

export async function run({ args, options, flags }: Invocation<typeof OPTIONS>, world: World): Promise<number> {
  const { monotonic, sleep, interrupt: signal } = world;
  const resolved = await resolveSettings(flags, world);
  world.setDeadline(resolved.settings.deadline);
  const progress = await createProgress({ ...resolved.settings, hintOf }, world);
  // Unlike a listing, what was not told may be what matters: a reader that goes away ends it with 141.
  const stdout = stdoutWriter(world);
  const tell = async (text: string, until: AbortSignal) => {
    if (text === '') return;
    if (world.stdout.isTTY) progress.clearForOutput();
    await stdout.write([Buffer.from(text)], until);
  };
  const findings = collectFindings(progress, options.json, args);
  const began = monotonic();
  let sliceBegan = began;
  const onProgress = async (hashed = 0) => {
    if (hashed > 0) findings.hashed(hashed);
    if (monotonic() - sliceBegan < SLICE_MS) return;
    signal.throwIfAborted();
    await tell(findings.take(), signal);
    await yieldToEventLoop(signal);
    sliceBegan = monotonic();
  };
  try {
    const roots = await rootsOf(args, world);
    const stoppedBy = await verifyAll(roots, world.platform, findings, onProgress).catch((error: unknown) => {
      if (signal.aborted && signal.reason instanceof FilingsError) return signal.reason;
      throw error;
    });
    // What was found is told, also when something stops it.
    const wrong = stoppedBy ? undefined : verifyError(findings, args);
    const error = stoppedBy ?? wrong;
    const last = findings.finish(monotonic() - began, error);
    await (stoppedBy ? within(FINAL_OUTPUT_GRACE_MS, sleep, (until) => tell(last, until)) : tell(last, signal));
    // The error about it sums it up, too.
    if (!wrong) progress.note(summaryText(findings.counts));
    if (error) throw error;
    return 0;
  } finally {
    progress.stop();
  }
}

async function verifyAll(
  roots: Roots,
  platform: string,
  findings: Findings,
  onProgress: OnProgress,
): Promise<undefined> {
  for await (const found of findDirectories(roots, platform, onProgress)) {
    if ('result' in found) findings.add(found);
    else {
      findings.counts.directories += 1;
      for await (const finding of verifyDirectory(found, onProgress)) findings.add(finding);
    }
  }
}
