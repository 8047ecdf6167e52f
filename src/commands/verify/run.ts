import { LAST_WORDS_MS, takeTurn, within } from '../../abort.ts';
import { findDirectories, type Roots, rootsOf } from '../../checksums/find.ts';
import { type Turn, verifyDirectory } from '../../checksums/verify.ts';
import { FilingsError } from '../../errors.ts';
import { startDeadline } from '../../session/deadline.ts';
import { resolveSettings } from '../../settings/resolve.ts';
import type { Invocation } from '../../spec/invocation.ts';
import { stdoutWriter } from '../../stdio/byte-writer.ts';
import { createProgress, type Progress } from '../../terminal/progress.ts';
import type { World } from '../../world.ts';
import { Findings, summaryLine, summaryText, verifyError } from './findings.ts';
import type { OPTIONS } from './spec.ts';

/** So long the synchronous work goes on before signals, timers and progress have their turn. */
const SLICE_MS = 10;

/** `filings verify`: whether what was downloaded is still what it was, without asking the service. */
export async function run({ args, options, flags }: Invocation<typeof OPTIONS>, world: World): Promise<number> {
  const resolved = await resolveSettings(flags, world);
  const deadline = startDeadline(resolved, world);
  const progress = await createProgress(resolved.settings, world);
  try {
    const roots = await rootsOf(args, world.cwd);
    const findings = new Findings(progress, options.json);
    const error = await verifyAll(roots, findings, world, progress, deadline.signal);
    if (error) throw error;
    return 0;
  } finally {
    progress.stop();
    deadline.stop();
  }
}

/** Tells what it finds and sums it up, also when something stops it; gives what it ends with. */
async function verifyAll(
  roots: Roots,
  findings: Findings,
  world: World,
  progress: Progress,
  signal: AbortSignal,
): Promise<FilingsError | undefined> {
  const { monotonic, sleep } = world;
  // Unlike a listing, what was not told may be what matters: a reader that goes away ends it with 141.
  const stdout = stdoutWriter(world);
  const began = monotonic();
  let sliceBegan = began;
  const tell = async (text: string, until: AbortSignal) => {
    if (text === '') return;
    if (world.stdout.isTTY) progress.makeWay();
    await stdout.write([Buffer.from(text)], until);
  };
  const turn = async () => {
    if (monotonic() - sliceBegan < SLICE_MS) return;
    signal.throwIfAborted();
    await tell(findings.take(), signal);
    await takeTurn(signal);
    sliceBegan = monotonic();
  };
  const stoppedBy = await verifyRoots(roots, findings, turn).catch((error: unknown) => {
    if (signal.aborted && signal.reason instanceof FilingsError) return signal.reason;
    throw error;
  });
  const { counts } = findings;
  const error = verifyError(counts, roots, stoppedBy);
  const last = findings.take() + (findings.json ? summaryLine(counts, monotonic() - began, error) : '');
  await (stoppedBy ? within(LAST_WORDS_MS, sleep, (until) => tell(last, until)) : tell(last, signal));
  findings.finish();
  progress.note(summaryText(counts));
  return error;
}

/** Throws what `turn` throws. */
async function verifyRoots(roots: Roots, { counts, add, hashed }: Findings, turn: Turn): Promise<undefined> {
  const same = () => {
    counts.same += 1;
  };
  for await (const found of findDirectories(roots, turn)) {
    if ('error' in found) add(found);
    else {
      counts.directories += 1;
      for await (const finding of verifyDirectory(found, { same, hashed, turn })) add(finding);
    }
  }
}
