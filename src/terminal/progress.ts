// Messages and the progress of a run, on stderr.
import { createAbortController, onAbort } from '../abort.ts';
import { FilingsError } from '../errors.ts';
import type { World } from '../world.ts';
import { createLogger, type Presentation, renderError } from './messages.ts';
import { printable } from './printable.ts';
import { type BatchProgress, describeProgress, type RunningFile, type RunState } from './progress-line.ts';

const PLAIN_INTERVAL_MS = 30_000;

export interface ProgressSettings extends Presentation {
  readonly progress: 'auto' | 'bar' | 'plain' | 'none';
  /** Data or a prompt is on the same terminal, where a progress line would overwrite it. */
  readonly sharesTerminal?: boolean;
}

type ProgressDeps = Pick<World, 'stderr' | 'env' | 'secrets' | 'printedHints' | 'monotonic' | 'sleep' | 'interrupt'>;

export type Progress = Awaited<ReturnType<typeof createProgress>>;
export type FileProgress = ReturnType<Progress['addFile']>;

/** Errors of writing to stderr are ignored. `reportError` prints the error that ends the run, after `stop`. */
export async function createProgress(settings: ProgressSettings, deps: ProgressDeps) {
  const { stderr, env, secrets, monotonic, sleep, interrupt } = deps;
  const isSilent = settings.quiet || settings.progress === 'none' || settings.errorFormat === 'json';
  const showsLine = !isSilent && !settings.sharesTerminal;
  // Without a cursor that can move, even `bar` gives plain lines.
  const canShowBar = stderr.isTTY === true && env.TERM !== 'dumb' && settings.progress !== 'plain';
  const startedAt = monotonic();
  const run: RunState = { runningFiles: new Set(), bytesThisRun: 0, startedAt, readBatch: () => undefined };
  const ended = createAbortController();

  const readPrintableLine = () => {
    const line = describeProgress(run, monotonic());
    // The label may be a file name. The facts are this program's own words and numbers.
    return line && { ...line, label: printable(secrets.redactMarked(line.label)) };
  };
  const bar = showsLine && canShowBar ? (await import('./bar.ts')).createBar(stderr, readPrintableLine) : undefined;
  const show = () => {
    if (!ended.signal.aborted) bar?.show();
  };
  const printEvery30Seconds = async () => {
    for (;;) {
      await sleep(PLAIN_INTERVAL_MS, ended.signal);
      const line = describeProgress(run, monotonic());
      // `log` escapes the label.
      if (line) log('note', [line.label, ...line.facts].join('  '));
    }
  };
  const print = bar?.log ?? ((lines: string) => void stderr.write(lines));
  const log = createLogger(settings, secrets, print);
  if (showsLine && !bar) printEvery30Seconds().catch(() => {});
  const endProgress = () => {
    ended.abort();
    bar?.hide();
  };
  const unsubscribeInterrupt = onAbort(interrupt, (reason) => {
    endProgress();
    // After Ctrl-C the cursor is behind the ^C that the terminal has printed, unless hiding the bar has moved it.
    if (!bar && stderr.isTTY && reason instanceof FilingsError && reason.code === 'interrupted') stderr.write('\n');
  });
  return {
    note: (text: string) => log('note', text),
    warn: (text: string) => log('warning', text),
    /** Prints the warning even with `--quiet`. */
    warnAboutFile: (text: string) => createLogger({ ...settings, quiet: false }, secrets, print)('warning', text),
    trace: (text: string) => log('trace', text),
    /** Prints an error that does not end the run, such as the failure of one file among many. */
    reportFailure: (error: FilingsError) => print(renderError(error, settings, deps)),
    /** Call this before a write to the same terminal. `advance`, `addFile` or `showBatch` shows the bar again. */
    clearForOutput: () => bar?.hide(),
    /** `readBatch` is called for each frame. While it returns undefined, a single file is shown. */
    showBatch(readBatch: () => BatchProgress | undefined) {
      run.readBatch = readBatch;
      show();
    },
    /** Messages can still be printed afterwards. */
    stop() {
      unsubscribeInterrupt();
      endProgress();
    },
    addFile(name: string, isCompared = false) {
      const file: RunningFile = { name, isCompared };
      if (isCompared && settings.verbose) log('note', `${name}: already exists, so it is downloaded to be compared`);
      run.runningFiles.add(file);
      show();
      return {
        advance(bytes: number) {
          file.bytes = (file.bytes ?? 0) + bytes;
          run.bytesThisRun += bytes;
          show();
        },
        /**
         * Must be called at each attempt. `totalBytes` is undefined if the response does not state the file's length.
         * `offset` is the number of bytes that are there already: 0 if the download starts again from the beginning.
         */
        beginResponse(totalBytes: number | undefined, offset = file.bytes ?? 0) {
          Object.assign(file, { totalBytes, bytes: offset });
        },
        noteWait(text: string) {
          if (!isSilent || settings.verbose) log('note', `${name}: ${text}`);
        },
        finish() {
          run.runningFiles.delete(file);
        },
      };
    },
  };
}
