import { availableParallelism } from 'node:os';
import { FilingsError } from '../../errors.ts';
import { threadCode } from '../../own-files.ts';
import { startDeadline } from '../../session/deadline.ts';
import { type Resolved, resolveSettings } from '../../settings/resolve.ts';
import type { Invocation } from '../../spec/invocation.ts';
import { isBrokenPipe, write } from '../../stdio/output.ts';
import { createProgress, type FileProgress, type Progress } from '../../terminal/progress/progress.ts';
import { humanBytes } from '../../terminal/units.ts';
import {
  type Finding,
  findingLine,
  summaryLine,
  summaryText,
  VerifyCounts,
  verifyError,
} from '../../transfer/checksums/verify/findings.ts';
import { type Root, rootsOf, verify } from '../../transfer/checksums/verify/verify.ts';
import type { World } from '../../world.ts';
import type { OPTIONS } from './spec.ts';

/** The most threads that are of use. */
const MOST_THREADS = 64;
const SIGPIPE = 13;
/** After the signal, a reader has so long to take what was still to be told. */
const LAST_WORDS_MS = 1000;

/** `filings verify`: whether what was downloaded is still what it was, without asking the service. */
export async function run({ args, options, flags }: Invocation<typeof OPTIONS>, world: World): Promise<number> {
  const resolved = await resolveSettings(flags, world);
  const deadline = startDeadline(resolved.settings.deadline, world.interrupt);
  const progress = await progressOf(resolved, world);
  try {
    const roots = await rootsOf(args, world.cwd);
    const threads = threadsFor(resolved);
    const order = { roots, threads, json: options.json, prune: options.prune };
    const error = await verifyAll(order, world, progress, deadline.signal);
    if (error) throw error;
    return 0;
  } catch (error) {
    // Unlike a listing, what was not told may be what matters.
    if (!isBrokenPipe(error)) throw error;
    throw new FilingsError('interrupted', 'stdout: its reader went away', { signal: SIGPIPE, cause: error });
  } finally {
    progress.stop();
    deadline.stop();
  }
}

interface Order {
  readonly roots: readonly Root[];
  readonly threads: number;
  readonly json: boolean;
  readonly prune: boolean;
}

/** Tells what it finds and sums it up, also when something stops it; gives what it ends with. */
async function verifyAll(
  { roots, threads, json, prune }: Order,
  world: World,
  progress: Progress,
  signal: AbortSignal,
): Promise<FilingsError | undefined> {
  const began = world.monotonic();
  const counts = new VerifyCounts();
  const stdout = progress.beside(world.stdout);
  const tell = (findings: readonly Finding[]) =>
    write(stdout, findings.map((finding) => findingLine(finding, json)).join(''), signal);
  const { fail, note } = { fail: progress.failure, note: (text: string) => progress.note(`warning: ${text}`) };
  const checking = { counts, tell, fail, note, prune, uid: world.uid, signal };
  let shown: FileProgress | undefined;
  const moved = (bytes: number) => {
    counts.bytes += bytes;
    if (shown === undefined) {
      shown = progress.start({ name: 'verified', offset: 0 });
      shown.total(undefined);
    }
    shown.advance(bytes);
  };
  const thread = threadCode('hash-thread', world.root);
  const stoppedBy = await verify(roots, checking, { thread, threads, moved }).then(
    () => undefined,
    (error: unknown) => {
      if (signal.aborted && signal.reason instanceof FilingsError) return signal.reason;
      throw error;
    },
  );
  shown?.finish();
  const error = verifyError(counts, stoppedBy);
  const words = summaryLine(counts, world.monotonic() - began, error);
  if (json) await write(stdout, words, AbortSignal.timeout(LAST_WORDS_MS));
  progress.note(summaryText(counts, humanBytes));
  return error;
}

/** As many as `--jobs` says; unless that was said, no more than there are processors. */
function threadsFor({ settings, given }: Resolved): number {
  const most = given.get('jobs')?.level === 'default' ? availableParallelism() : MOST_THREADS;
  return Math.max(1, Math.min(settings.jobs, most));
}

function progressOf({ settings }: Resolved, { stderr, env, secrets, monotonic, interrupt }: World): Promise<Progress> {
  const { progress: mode, errorFormat, quiet, verbose, color } = settings;
  return createProgress({
    mode,
    errorFormat,
    quiet,
    verbose,
    stream: stderr,
    color,
    term: env.TERM,
    secrets,
    monotonic,
    interrupt,
  });
}
