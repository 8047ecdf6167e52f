// Runs `filings verify`: hashes the files that each SHA256SUMS lists, and prints each finding, such as a missing file,
// as soon as it is made. The error or the note at the end sums them up.
import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { FINAL_OUTPUT_GRACE_MS, withTimeLimit, yieldToEventLoop } from '../../abort.ts';
import { findDirectories } from '../../checksums/find.ts';
import { type Finding, type OnHashed, verifyDirectory } from '../../checksums/verify.ts';
import { systemReason, toReadError } from '../../disk/failure.ts';
import { FilingsError } from '../../errors.ts';
import { resolveSettings } from '../../settings/resolve.ts';
import type { Invocation } from '../../spec/command.ts';
import { write } from '../../stdio/output.ts';
import { createProgress } from '../../terminal/progress.ts';
import type { World } from '../../world.ts';
import { Findings } from './findings.ts';
import type { OPTIONS } from './spec.ts';

/**
 * Returns 0 if every listed file is intact. Throws if one is missing, changed or unreadable, if a SHA256SUMS is
 * damaged, if there is none, if a root is not a directory, if stdout fails, or if SIGINT or the deadline stops the run.
 */
export async function run({ args, options, flags }: Invocation<typeof OPTIONS>, world: World): Promise<number> {
  const { monotonic, sleep, interrupt } = world;
  const { settings } = await resolveSettings(flags, world);
  const progress = await createProgress(settings, world);
  const startedAt = monotonic();
  const print = async (text: string, writeSignal: AbortSignal) => {
    if (text === '') return;
    // The progress bar may be on the same terminal.
    if (world.stdout.isTTY) progress.clearForOutput();
    await write(world.stdout, text, writeSignal);
  };
  try {
    for (const root of args) requireDirectory(root, world.cwd);
    const findings = new Findings(args, world.platform, options.json);
    // One row shows the progress of all files.
    const progressRow = progress.addFile('verified');
    // Rows are made for downloads: without this call, it would say `no response yet` until the first block is hashed.
    progressRow.beginResponse(undefined);
    const onHashed = (bytes: number) => {
      findings.bytes += bytes;
      progressRow.advance(bytes);
    };
    let stoppedBy: FilingsError | undefined;
    try {
      for await (const finding of verifyBelow(args, world, findings, onHashed)) {
        const { path, reason, error } = finding;
        // The cast is safe: the error is a system error, which `toReadError` converts, or a FilingsError already.
        if (error) progress.reportFailure(toReadError(error, path) as FilingsError);
        if (reason !== undefined) progress.warnAboutFile(`${path}: ${reason}`);
        await print(findings.add(finding), interrupt);
        // Small files are hashed without ever pausing, so SIGINT and the deadline would otherwise go unnoticed.
        await yieldToEventLoop(interrupt);
      }
    } catch (error) {
      // After SIGINT or at the deadline, the summary of what has been checked is still printed.
      if (!interrupt.aborted) throw error;
      stoppedBy = interrupt.reason;
    }
    progressRow.finish();
    const error = stoppedBy ?? findings.toError();
    const lastLine = options.json ? findings.summaryLine(monotonic() - startedAt, error?.exitStatus ?? 0) : '';
    // If the run was stopped, `interrupt` has aborted, and would end this write as well. A time limit replaces it.
    await (stoppedBy
      ? withTimeLimit(FINAL_OUTPUT_GRACE_MS, sleep, (timeLimit) => print(lastLine, timeLimit))
      : print(lastLine, interrupt));
    // An error from `findings` needs no note: it contains the summary, or says that there was nothing to check.
    if (stoppedBy || !error) progress.note(findings.summary());
    if (error) throw error;
    return 0;
  } finally {
    progress.stop();
  }
}

/**
 * Verifies the directories with a SHA256SUMS in and below the roots, and yields the findings. Counts the directories in
 * `findings`. Throws the reason of `interrupt` once that has aborted.
 */
async function* verifyBelow(
  roots: readonly string[],
  { cwd, platform, interrupt }: Pick<World, 'cwd' | 'platform' | 'interrupt'>,
  findings: Findings,
  onHashed: OnHashed,
): AsyncGenerator<Finding> {
  for await (const entry of findDirectories(roots, cwd)) {
    interrupt.throwIfAborted();
    // A directory that cannot be read comes as a finding.
    if ('result' in entry) yield entry;
    else {
      findings.directories += 1;
      yield* verifyDirectory(entry, platform, interrupt, onHashed);
    }
  }
}

/** Throws `usage` if a root is missing or not a directory. This is checked for all roots before anything is hashed. */
function requireDirectory(path: string, cwd: string): void {
  try {
    // `/.` makes the call fail with ENOTDIR for anything but a directory. On Windows it does not, and a file is
    // reported later, as a directory that cannot be read. An empty path stays empty, so that the call fails with
    // ENOENT: `resolve` would turn it into the working directory.
    statSync(path && `${resolve(cwd, path)}/.`);
  } catch (cause) {
    throw new FilingsError('usage', `cannot be opened: ${systemReason(cause)}`, {
      subject: { path: path || "''" },
      hint: 'pass the directory with the downloaded files',
      cause,
    });
  }
}
