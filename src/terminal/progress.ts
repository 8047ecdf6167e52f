import { createAbortController, onAbort } from '../abort.ts';
import { FilingsError } from '../errors.ts';
import { guardStream } from '../stdio/output.ts';
import type { World } from '../world.ts';
import { type BatchProgress, fileText, overallText, type Running, type RunningFile, type Wait } from './lines.ts';
import { createLogger, type HintOf, renderError, type TellerSettings, usesColor } from './messages.ts';
import { printable } from './printable.ts';

const CTRL_C_STATUS = 130;
/** How often plain output has a line of progress. */
const PLAIN_MS = 30_000;

export interface ProgressSettings extends TellerSettings {
  readonly progress: 'auto' | 'bar' | 'plain' | 'none';
  readonly verbose: boolean;
  readonly color: 'auto' | 'always' | 'never';
  /** Stderr shares a terminal with data, between which no line of progress belongs. */
  readonly isShared?: boolean;
  readonly hintOf: HintOf;
}

type ProgressDeps = Pick<World, 'stderr' | 'env' | 'secrets' | 'monotonic' | 'sleep' | 'interrupt' | 'onSuspend'>;

export interface FileProgress {
  advance(bytes: number): void;
  /** The length is known, or known to be unknown; at `offset` it begins or goes on. */
  total(bytes: number | undefined, offset?: number): void;
  /** Counted down; the next byte ends it. */
  wait(wait: Wait): void;
  /** Another file takes its place: a run of several files does not show it any more, unless it is fetched again. */
  complete(): void;
  /** The line says how it has ended, where nobody else tells. */
  finish(line?: string): void;
}

/** All that is said on stderr during a run, apart from the error that ends it. */
export interface Progress {
  /** `size`: bytes, as listed. */
  start(name: string, size?: number): FileProgress;
  overall(reach: () => BatchProgress | undefined): void;
  /** Whole lines are about to be written to this terminal. */
  clearForOutput(): void;
  note(text: string): void;
  trace(text: string): void;
  failure(error: FilingsError): void;
  /** Anything said later is plain lines. */
  stop(): void;
}

/**
 * Returns bars on a terminal, otherwise a line for each finished file and each wait, and a line of progress every 30
 * seconds. With `errorFormat` `json` there are no bars. A broken stderr is no failure.
 */
export async function createProgress(settings: ProgressSettings, around: ProgressDeps): Promise<Progress> {
  const { stderr, env, secrets, monotonic, sleep, interrupt } = around;
  const messages = { ...settings, secrets, color: usesColor(settings.color, stderr, env.TERM) };
  const shown = shownAs(settings, around);
  const running: Running = { files: new Set(), bytes: 0, since: monotonic(), reach: undefined };
  const clear = (text: string) => printable(secrets.redact(text));
  guardStream(stderr);
  const bars = shown === 'bar' ? (await import('./bars.ts')).createBars(stderr, running, clear, monotonic) : undefined;
  const forgetSuspend = bars && around.onSuspend(bars.hide, bars.show);
  const forgetInterrupt = onAbort(interrupt, (reason) => {
    const isFromKeys = reason instanceof FilingsError && reason.exitStatus === CTRL_C_STATUS;
    if (bars) bars.stop(isFromKeys);
    // The echo of Ctrl-C is at the end of a line.
    else if (stderr.isTTY && isFromKeys) stderr.write('\n');
  });
  const say = (lines: string) => void (bars === undefined ? stderr.write(lines) : bars.log(lines));
  const tell = createLogger(messages, secrets, say);
  const note = (text: string) => tell('note', text);
  const over = createAbortController();
  let isTicking = shown !== 'plain' || settings.isShared === true;
  const tick = async () => {
    if (isTicking) return;
    isTicking = true;
    while (!over.signal.aborted) {
      await sleep(PLAIN_MS, over.signal);
      const reach = running.reach?.();
      const files = Array.from(running.files, (file) => fileText(file, monotonic()));
      for (const line of reach ? [overallText(running, reach, monotonic())] : files) note(line);
    }
  };
  /** Something moves: from now on it is shown. */
  const show = () => {
    bars?.show();
    // It ends with the abort of its sleep.
    tick().catch(() => {});
  };
  return {
    note,
    trace: (text) => tell('trace', text),
    failure: (error) => say(renderError(error, messages)),
    clearForOutput: () => bars?.clearForOutput(),
    overall(reach) {
      running.reach = reach;
      show();
    },
    stop() {
      over.abort();
      forgetInterrupt();
      forgetSuspend?.();
      bars?.stop();
    },
    start(name, size) {
      const file: RunningFile = { name, size, from: 0, since: monotonic() };
      running.files.add(file);
      show();
      return {
        advance(bytes) {
          file.bytes = (file.bytes ?? file.from) + bytes;
          file.waiting = undefined;
          running.bytes += bytes;
        },
        total(total, at = file.bytes ?? 0) {
          const since = monotonic();
          Object.assign(file, { total, bytes: at, from: at, since, waiting: undefined, isCompleting: false });
        },
        complete() {
          file.isCompleting = true;
        },
        wait(wait) {
          const reason = clear(wait.reason);
          Object.assign(file, { waiting: { ...wait, reason }, since: monotonic() });
          const isNoted = shown === 'plain' || (settings.verbose && shown === 'none');
          if (isNoted) note(`${name}: ${wait.reason}; ${wait.next(wait.ms)}`);
        },
        finish(text) {
          running.files.delete(file);
          if (text !== undefined && shown !== 'none') note(text);
        },
      };
    },
  };
}

function shownAs({ progress, quiet, errorFormat }: ProgressSettings, { stderr, env }: ProgressDeps) {
  if (quiet || progress === 'none') return 'none';
  const canMove = stderr.isTTY === true && env.TERM !== 'dumb' && errorFormat === 'text';
  return canMove && progress !== 'plain' ? 'bar' : 'plain';
}
