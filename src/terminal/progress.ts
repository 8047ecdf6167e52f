// Shows the progress of a run on stderr as one line: at the bottom of a terminal with a bar, elsewhere printed every 30
// seconds. Messages are lines above it.
import { createAbortController, onAbort } from '../abort.ts';
import { FilingsError } from '../errors.ts';
import { guardStream } from '../stdio/output.ts';
import type { World } from '../world.ts';
import { createLogger, type LoggerSettings, renderError, usesColor } from './messages.ts';
import { printable } from './printable.ts';
import { type BatchProgress, progressLine, type Running, type RunningFile } from './progress-line.ts';

/** The time between two lines of progress in plain output. */
const PLAIN_MS = 30_000;

/** The settings of the output on stderr. */
export interface ProgressSettings extends LoggerSettings {
  readonly progress: 'auto' | 'bar' | 'plain' | 'none';
  readonly verbose: boolean;
  readonly color: 'auto' | 'always' | 'never';
  /** Whether stderr shares a terminal with data, which no line of progress may interrupt. */
  readonly isShared?: boolean;
}

type ProgressDeps = Pick<World, 'stderr' | 'env' | 'secrets' | 'monotonic' | 'sleep' | 'interrupt' | 'onSuspend'>;

/** All output on stderr during a run, except the error that ends the run. */
export type Progress = Awaited<ReturnType<typeof createProgress>>;
/** The progress of one file. */
export type FileProgress = ReturnType<Progress['start']>;

/** Returns the progress of a run. Errors of stderr are ignored. */
export async function createProgress(settings: ProgressSettings, deps: ProgressDeps) {
  const { stderr, env, secrets, monotonic, sleep, interrupt, onSuspend } = deps;
  const messages = { ...settings, secrets, color: usesColor(settings.color, stderr, env.TERM) };
  const mode = chooseMode(settings, deps);
  const running: Running = { files: new Set(), bytes: 0, startedAt: monotonic(), batch: undefined };
  const ended = createAbortController();
  guardStream(stderr);

  const read = () => {
    const line = progressLine(running, monotonic());
    return line && { ...line, label: printable(secrets.redactForeign(line.label)) };
  };
  const bar = mode === 'bar' ? (await import('./bar.ts')).createBar(stderr, read) : undefined;
  const show = () => {
    if (!ended.signal.aborted) bar?.show();
  };
  const printEvery30Seconds = async () => {
    for (;;) {
      await sleep(PLAIN_MS, ended.signal);
      const line = progressLine(running, monotonic());
      if (line) log('note', [line.label, ...line.facts].join('  '));
    }
  };
  const print = (lines: string) => {
    if (bar) bar.log(lines);
    else stderr.write(lines);
  };
  const log = createLogger(messages, secrets, print);
  // The abort of its sleep ends it.
  if (mode === 'plain') printEvery30Seconds().catch(() => {});
  const stop = () => {
    ended.abort();
    bar?.hide();
  };
  const resume = bar && onSuspend(bar.hide, () => running.files.size > 0 && show());
  const unsubscribe = onAbort(interrupt, (reason) => {
    stop();
    // The terminal has printed ^C, so that the next message begins a new line.
    if (!bar && stderr.isTTY && reason instanceof FilingsError && reason.code === 'interrupted') stderr.write('\n');
  });
  return {
    note: (text: string) => log('note', text),
    warn: (text: string) => log('warning', text),
    /** Prints a warning about a file, even with `--quiet`. */
    warnAboutFile: (text: string) => createLogger({ ...messages, quiet: false }, secrets, print)('warning', text),
    trace: (text: string) => log('trace', text),
    failure: (error: FilingsError) => print(renderError(error, messages)),
    /** Makes room for whole lines that are about to be written to this terminal. */
    clearForOutput: () => bar?.hide(),
    /** Shows the whole run instead of its file. */
    overall(batch: () => BatchProgress | undefined) {
      running.batch = batch;
      show();
    },
    /** Clears the line of progress. Later messages are plain lines. */
    stop() {
      unsubscribe();
      resume?.();
      stop();
    },
    /** Adds a file. */
    start(name: string) {
      const file: RunningFile = { name };
      running.files.add(file);
      show();
      return {
        /** Adds received bytes. */
        advance(bytes: number) {
          file.bytes = (file.bytes ?? 0) + bytes;
          running.bytes += bytes;
          show();
        },
        /** Begins or resumes at `offset`. The total is undefined if the response has no length. */
        total(total: number | undefined, offset = file.bytes ?? 0) {
          Object.assign(file, { total, bytes: offset });
        },
        /** Tells why and how long the next attempt waits. */
        wait(text: string) {
          if (mode !== 'none' || settings.verbose) log('note', `${name}: ${text}`);
        },
        finish() {
          running.files.delete(file);
        },
      };
    },
  };
}

function chooseMode({ progress, quiet, errorFormat, isShared }: ProgressSettings, { stderr, env }: ProgressDeps) {
  if (quiet || progress === 'none' || errorFormat === 'json') return 'none';
  const canMove = stderr.isTTY === true && env.TERM !== 'dumb' && progress !== 'plain';
  if (isShared) return 'waits';
  return canMove ? 'bar' : 'plain';
}
