// Runs `verify`: hashes the files that each SHA256SUMS lists, and prints each difference as soon as it is found. The
// error or the note at the end sums them up.
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

/** Returns 0, or throws an error if any file is missing or changed. */
export async function run({ args, options, flags }: Invocation<typeof OPTIONS>, world: World): Promise<number> {
  const { monotonic, sleep, interrupt: signal } = world;
  const { settings } = await resolveSettings(flags, world);
  const progress = await createProgress({ ...settings }, world);
  const startedAt = monotonic();
  const print = async (text: string, until: AbortSignal) => {
    if (text === '') return;
    if (world.stdout.isTTY) progress.clearForOutput();
    await write(world.stdout, text, until);
  };
  try {
    for (const root of args) requireDirectory(root, world.cwd);
    const findings = new Findings(args, world.platform, options.json);
    const { counts } = findings;
    const bar = progress.start('verified');
    bar.beginResponse(undefined);
    const onHashed = (bytes: number) => {
      counts.bytes += bytes;
      bar.advance(bytes);
    };
    const stoppedBy = await (async () => {
      for await (const finding of findAll(args, world, counts, onHashed)) {
        const { path, reason, error } = finding;
        if (error) progress.failure(toReadError(error, path) as FilingsError);
        if (reason !== undefined) progress.warnAboutFile(`${path}: ${reason}`);
        await print(findings.add(finding), signal);
        await yieldToEventLoop(signal);
      }
    })().catch((error: unknown) => {
      if (signal.aborted && signal.reason instanceof FilingsError) return signal.reason;
      throw error;
    });
    bar.finish();
    const error = stoppedBy ?? findings.error();
    const lastLine = options.json ? findings.summaryLine(monotonic() - startedAt, error?.exitStatus ?? 0) : '';
    await (stoppedBy
      ? withTimeLimit(FINAL_OUTPUT_GRACE_MS, sleep, (until) => print(lastLine, until))
      : print(lastLine, signal));
    // Otherwise the error has the summary as its message.
    if (stoppedBy || !error) progress.note(findings.summary());
    if (error) throw error;
    return 0;
  } finally {
    progress.stop();
  }
}

/** Counts the directories that have a SHA256SUMS. Throws the signal's reason. */
async function* findAll(
  roots: readonly string[],
  { cwd, platform, interrupt }: Pick<World, 'cwd' | 'platform' | 'interrupt'>,
  counts: Findings['counts'],
  onHashed: OnHashed,
): AsyncGenerator<Finding> {
  for await (const entry of findDirectories(roots, cwd)) {
    interrupt.throwIfAborted();
    if ('result' in entry) yield entry;
    else {
      counts.directories += 1;
      yield* verifyDirectory(entry, platform, interrupt, onHashed);
    }
  }
}

function requireDirectory(path: string, cwd: string): void {
  try {
    // `/.` makes the call fail with ENOTDIR for anything but a directory, except on Windows.
    statSync(path && `${resolve(cwd, path)}/.`);
  } catch (cause) {
    throw new FilingsError('usage', `cannot be opened: ${systemReason(cause)}`, {
      subject: { path: path || "''" },
      hint: 'pass the directory with the downloaded files',
      cause,
    });
  }
}
