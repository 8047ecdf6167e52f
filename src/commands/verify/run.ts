import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { yieldToEventLoop } from '../../abort.ts';
import { type Finding, findDirectories, verifyDirectory } from '../../checksums/verify.ts';
import { systemReason, toReadError } from '../../disk/failure.ts';
import { FilingsError } from '../../errors.ts';
import { isUtf8Path } from '../../paths.ts';
import { resolveSettings } from '../../settings/resolve.ts';
import type { Invocation } from '../../spec/command.ts';
import { isClosedStdout, write } from '../../stdio/output.ts';
import { createProgress } from '../../terminal/progress.ts';
import type { World } from '../../world.ts';
import { Findings } from './findings.ts';
import type { OPTIONS } from './spec.ts';

export async function run({ args, options, flags }: Invocation<typeof OPTIONS>, world: World): Promise<number> {
  const { monotonic, interrupt } = world;
  const { settings } = await resolveSettings(flags, world);
  const progress = await createProgress(settings, world);
  const startedAt = monotonic();
  const findings = new Findings(args, world.platform, options.json);
  const print = async (text: string) => {
    if (text === '') return;
    // The progress bar may be on the same terminal.
    if (world.stdout.isTTY) progress.clearForOutput();
    await write(world.stdout, text, interrupt).catch((error) => {
      const found = findings.toError();
      // What was found decides the status, because in `verify | head` nobody sees the rest.
      if (!isClosedStdout(error) || found?.code !== 'integrity') throw error;
      throw found.with({ remarks: ['stopped, because the reader of stdout closed it'] });
    });
  };
  const report = async (finding: Finding) => {
    const { path, reason, error } = finding;
    if (error) progress.reportFailure(toReadError(error, path) as FilingsError);
    if (reason !== undefined) progress.warnAboutFile(`${path}: ${reason}`);
    await print(findings.add(finding));
    // Small files are hashed without ever pausing, so SIGINT and the deadline would otherwise go unnoticed.
    await yieldToEventLoop(interrupt);
  };
  try {
    for (const root of args) requireDirectory(root, world.cwd);
    const progressRow = progress.addFile('verified');
    // Without this call, the row would say `no response yet` until the first block is hashed.
    progressRow.beginResponse(undefined);
    const onHashed = (bytes: number) => {
      findings.bytes += bytes;
      progressRow.advance(bytes);
    };
    for await (const entry of findDirectories(args, world.cwd)) {
      if ('result' in entry) await report(entry);
      else {
        findings.directories += 1;
        for await (const finding of verifyDirectory(entry, world.platform, interrupt, onHashed)) await report(finding);
      }
    }
    progressRow.finish();
    const error = findings.toError();
    if (options.json) await print(findings.summaryLine(monotonic() - startedAt, error?.exitStatus ?? 0));
    // The error contains the summary, or says that there was nothing to check.
    if (error) throw error;
    progress.note(findings.summary());
    return 0;
  } catch (error) {
    if (!interrupt.aborted) throw error;
    progress.note(findings.summary());
    throw interrupt.reason;
  } finally {
    progress.stop();
  }
}

/** All roots are checked before anything is hashed. */
function requireDirectory(path: string, cwd: string): void {
  try {
    // `/.` makes the call fail with ENOTDIR for anything but a directory. On Windows it does not, and a file is
    // reported later. An empty path stays empty, so that the call fails with ENOENT.
    // A path that is not UTF-8 cannot be opened. That is a finding.
    if (isUtf8Path(resolve(cwd, path))) statSync(path && `${resolve(cwd, path)}/.`);
  } catch (cause) {
    throw new FilingsError('usage', `cannot be opened: ${systemReason(cause)}`, {
      subject: { path: path || "''" },
      hint: 'pass the directory with the downloaded files',
      cause,
    });
  }
}
