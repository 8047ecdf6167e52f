import { onAbort } from '../../abort.ts';
import { FilingsError } from '../../errors.ts';
import type { Secrets } from '../../secrets.ts';
import { guardStream } from '../../stdio/raw-write.ts';
import type { OutputStream } from '../../world.ts';
import { type ColorSetting, usesColor } from '../colors.ts';
import { printable } from '../printable.ts';
import { renderError } from '../render-error.ts';
import { createTeller } from '../teller.ts';
import type { Wait } from './bar-line.ts';
import { beside } from './beside.ts';
import type { Reach } from './overall-line.ts';
import { Running } from './running.ts';
import { RunningFile, type StartedFile } from './running-file.ts';
import { Screen } from './screen.ts';

/** 128 and its number. */
const SIGINT = 130;

export interface ProgressOptions {
  readonly mode: 'auto' | 'bar' | 'plain' | 'none';
  readonly errorFormat: 'text' | 'json';
  readonly quiet: boolean;
  readonly verbose: boolean;
  readonly stream: OutputStream;
  readonly color: ColorSetting;
  readonly term: string | undefined;
  readonly secrets: Secrets;
  /** Milliseconds of a clock that never steps. */
  readonly monotonic: () => number;
  /** As soon as it aborts, nothing moves any more. */
  readonly interrupt: AbortSignal;
}

/** A running transfer. */
export interface FileProgress {
  advance(bytes: number): void;
  /** The length is known, or known to be unknown; at `offset` it begins or goes on. */
  total(bytes: number | undefined, offset?: number): void;
  /** Nothing moves for a while: why, without the name, and what comes next. The next byte ends it. */
  wait(wait: Wait): void;
  /** It has ended; the line says how, and goes without when it is told elsewhere. */
  finish(line?: string): void;
}

/** All that is said on stderr during a run, apart from the error that ends it. Free of secrets. */
export interface Progress {
  /** Whether lines move, as on a terminal. */
  readonly moves: boolean;
  start(file: StartedFile): FileProgress;
  /** Above the running files: how far a run of several is. */
  overall(reach: () => Reach | undefined): void;
  /** Standard output for data, as it is, or where it is the same terminal as one that makes what moves make way. */
  beside(stdout: OutputStream): OutputStream;
  /** A line for a person, left out when quiet. */
  note(text: string): void;
  /** What goes over the wire, told when verbose. */
  trace(text: string): void;
  /** A failure after which the run goes on. */
  failure(error: FilingsError): void;
  /** Clears what moves. Anything said later is plain lines. */
  stop(): void;
}

/**
 * Shows how a run gets on: lines that move on a terminal, otherwise one line a finished file and one a wait. With
 * `errorFormat` `json` all that is said are JSON lines (`{"note"}`, `{"trace"}`, `{"error"}`), so nothing moves. A
 * broken stderr is no failure.
 */
export async function createProgress(options: ProgressOptions): Promise<Progress> {
  const { stream, errorFormat, quiet, verbose, secrets, monotonic, interrupt } = options;
  const color = usesColor(options.color, stream, options.term);
  const shown = shownAs(options);
  const running = new Running(monotonic);
  const lines = isScreen(options) ? await import('./lines.ts') : undefined;
  const screen =
    lines && new Screen(stream, (width, rows) => (shown === 'bar' ? lines.linesOf(running.shown(rows), width) : []));
  guardStream(stream);
  const forget = onAbort(interrupt, (reason) => screen?.interrupted(isFromKeys(reason)));

  const say = (lines: string) => (screen === undefined ? stream.write(lines) : screen.above(lines));
  const tell = createTeller({ errorFormat, quiet, secrets }, say);
  const note = (text: string) => tell('note', text);
  const clear = (text: string) => printable(secrets.redact(text));
  return {
    moves: shown === 'bar',
    note,
    trace: (text) => {
      if (verbose) tell('trace', text);
    },
    failure: (error) => void say(renderError(error, { format: errorFormat, color, verbose, secrets })),
    beside: (stdout) => (screen && stdout.isTTY ? beside(stdout, screen) : stdout),
    overall(reach) {
      running.overall(reach);
      if (shown === 'bar') screen?.wake();
    },
    stop() {
      forget();
      screen?.stop();
    },
    start(started) {
      const file = new RunningFile(started, clear, monotonic);
      running.add(file);
      if (shown === 'bar') screen?.wake();
      return followed(file, running, {
        clear,
        onWait: (text) => (shown === 'plain' || (verbose && shown === 'none')) && note(text),
        onEnd: (text) => shown !== 'none' && note(text),
      });
    },
  };
}

interface Telling {
  /** Without a secret, printable. */
  clear(text: string): string;
  onWait(line: string): void;
  onEnd(line: string): void;
}

/** What a transfer tells of itself, shown where it moves. */
function followed(file: RunningFile, running: Running, { clear, onWait, onEnd }: Telling): FileProgress {
  return {
    advance(bytes) {
      file.advance(bytes);
      running.advance(bytes);
    },
    total: (bytes, offset) => file.begin(bytes, offset),
    wait({ reason, next }) {
      file.waiting = { reason: clear(reason), next };
      onWait(`${file.name}: ${reason}; ${next}`);
    },
    finish(text) {
      running.remove(file);
      if (text !== undefined) onEnd(text);
    },
  };
}

/** Whether lines can be cleared and drawn again. */
function isScreen({ stream, term, errorFormat }: ProgressOptions): boolean {
  return stream.isTTY === true && term !== 'dumb' && errorFormat === 'text';
}

/** Whether it was Ctrl-C, most likely. */
function isFromKeys(reason: unknown): boolean {
  return reason instanceof FilingsError && reason.exitStatus === SIGINT;
}

function shownAs(options: ProgressOptions): 'bar' | 'plain' | 'none' {
  const { mode, quiet } = options;
  if (quiet || mode === 'none') return 'none';
  return isScreen(options) && mode !== 'plain' ? 'bar' : 'plain';
}
