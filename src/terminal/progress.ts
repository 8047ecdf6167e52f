import { createAbortController, onAbort } from '../abort.ts';
import { FilingsError } from '../errors.ts';
import { guardStream } from '../stdio/output.ts';
import type { World } from '../world.ts';
import type { BatchProgress, Running, RunningFile, Wait } from './lines.ts';
import { createLogger, type HintOf, type LoggerSettings, renderError, usesColor } from './messages.ts';
import { printable } from './printable.ts';

// Shows the progress of a run on stderr: bars on a terminal, otherwise lines. Takes the events of the jobs, and clears
// the bars before other output.

const CTRL_C_STATUS = 130;
/** The time between two lines of progress in plain output. */
const PLAIN_MS = 30_000;

/** The settings of the output on stderr. */
export interface ProgressSettings extends LoggerSettings {
  readonly progress: 'auto' | 'bar' | 'plain' | 'none';
  readonly verbose: boolean;
  readonly color: 'auto' | 'always' | 'never';
  /** Whether stderr shares a terminal with data, which no line of progress may interrupt. */
  readonly isShared?: boolean;
  readonly hintOf: HintOf;
}

type ProgressDeps = Pick<World, 'stderr' | 'env' | 'secrets' | 'monotonic' | 'sleep' | 'interrupt' | 'onSuspend'>;

/** The progress of one file. */
export interface FileProgress {
  /** Adds received bytes. */
  advance(bytes: number): void;
  /** Begins or resumes at `offset`. The total is undefined if the response has no length. */
  total(bytes: number | undefined, offset?: number): void;
  /** Shows a countdown until the next byte. */
  wait(wait: Wait): void;
  /** Hides the file in a run of several files, because another file uses the job. The next `total` shows it again. */
  complete(): void;
  /** Ends with a line about the outcome, if nothing else reports it. */
  finish(line?: string): void;
}

/** All output on stderr during a run, except the error that ends the run. */
export interface Progress {
  /** Adds a file. `size` is its listed size in bytes. */
  start(name: string, size?: number): FileProgress;
  /** Adds a line for the whole run. */
  overall(batch: () => BatchProgress | undefined): void;
  /** Makes room for whole lines that are about to be written to this terminal. */
  clearForOutput(): void;
  note(text: string): void;
  trace(text: string): void;
  failure(error: FilingsError): void;
  /** Clears the bars. Later messages are plain lines. */
  stop(): void;
}

/**
 * Returns bars on a terminal, otherwise a line for each finished file and each wait, and a line of progress every 30
 * seconds. With `errorFormat` `json` there are no bars. Errors of stderr are ignored.
 */
export async function createProgress(settings: ProgressSettings, deps: ProgressDeps): Promise<Progress> {
  const { stderr, env, secrets, monotonic, sleep, interrupt } = deps;
  const messages = { ...settings, secrets, color: usesColor(settings.color, stderr, env.TERM) };
  const progressMode = chooseProgressMode(settings, deps);
  const running: Running = { files: new Set(), bytes: 0, startedAt: monotonic(), batch: undefined };
  const sanitize = (text: string) => printable(secrets.redact(text));
  guardStream(stderr);
  const bars =
    progressMode === 'bar' ? (await import('./bars.ts')).createBars(stderr, running, sanitize, monotonic) : undefined;
  const unsubscribeSuspend = bars && deps.onSuspend(bars.hide, bars.show);
  const unsubscribeInterrupt = onAbort(interrupt, (reason) => {
    const isFromKeys = reason instanceof FilingsError && reason.exitStatus === CTRL_C_STATUS;
    if (bars) bars.stop(isFromKeys);
    // The terminal has printed ^C, so that the next message begins a new line.
    else if (stderr.isTTY && isFromKeys) stderr.write('\n');
  });
  const print = (lines: string) => {
    if (bars) bars.log(lines);
    else stderr.write(lines);
  };
  const log = createLogger(messages, secrets, print);
  const note = (text: string) => log('note', text);
  const ticker = createAbortController();
  let isTicking = progressMode !== 'plain' || settings.isShared === true;
  const tick = async () => {
    if (isTicking) return;
    isTicking = true;
    while (!ticker.signal.aborted) {
      await sleep(PLAIN_MS, ticker.signal);
      // A small download ends before, and would take a fifth longer if it loaded this module.
      const { fileText, overallText } = await import('./lines.ts');
      const batch = running.batch?.();
      const files = Array.from(running.files, (file) => fileText(file, monotonic()));
      for (const line of batch ? [overallText(running, batch, monotonic())] : files) note(line);
    }
  };
  /** Shows the bars, and begins the lines of progress in plain output. */
  const showProgress = () => {
    bars?.show();
    // The abort of its sleep ends it.
    tick().catch(() => {});
  };
  return {
    note,
    trace: (text) => log('trace', text),
    failure: (error) => print(renderError(error, messages)),
    clearForOutput: () => bars?.clearForOutput(),
    overall(batch) {
      running.batch = batch;
      showProgress();
    },
    stop() {
      ticker.abort();
      unsubscribeInterrupt();
      unsubscribeSuspend?.();
      bars?.stop();
    },
    start(name, size) {
      const file: RunningFile = { name, size, initialBytes: 0, startedAt: monotonic() };
      running.files.add(file);
      showProgress();
      return {
        advance(bytes) {
          file.bytes = (file.bytes ?? file.initialBytes) + bytes;
          file.waiting = undefined;
          running.bytes += bytes;
        },
        total(total, at = file.bytes ?? 0) {
          const startedAt = monotonic();
          Object.assign(file, {
            total,
            bytes: at,
            initialBytes: at,
            startedAt,
            waiting: undefined,
            isCompleting: false,
          });
        },
        complete() {
          file.isCompleting = true;
        },
        wait(wait) {
          const reason = sanitize(wait.reason);
          Object.assign(file, { waiting: { ...wait, reason }, startedAt: monotonic() });
          const isNoted = progressMode === 'plain' || (settings.verbose && progressMode === 'none');
          if (isNoted) note(`${name}: ${wait.reason}; ${wait.next(wait.ms)}`);
        },
        finish(text) {
          running.files.delete(file);
          if (text !== undefined && progressMode !== 'none') note(text);
        },
      };
    },
  };
}

function chooseProgressMode({ progress, quiet, errorFormat }: ProgressSettings, { stderr, env }: ProgressDeps) {
  if (quiet || progress === 'none') return 'none';
  const canMove = stderr.isTTY === true && env.TERM !== 'dumb' && errorFormat === 'text';
  return canMove && progress !== 'plain' ? 'bar' : 'plain';
}
