import type { FilingsError } from '../../errors.ts';
import type { Secrets } from '../../secrets/secrets.ts';
import { guardStream } from '../../stdio/raw-write.ts';
import type { OutputStream } from '../../world.ts';
import { type ColorSetting, usesColor } from '../colors.ts';
import { printable } from '../printable.ts';
import { renderError } from '../render-error.ts';
import { createTeller } from '../teller.ts';
import { RunningFile, type StartedFile } from './running-file.ts';
import { Screen } from './screen.ts';

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
}

/** A running transfer. */
export interface FileProgress {
  advance(bytes: number): void;
  /** The length is known, or known to be unknown; at `offset` it begins or goes on. */
  total(bytes: number | undefined, offset?: number): void;
  /** Nothing moves for a while: the reason, without the name. The next byte ends it. */
  wait(text: string): void;
  /** It has ended; the line says how, and goes without when it is told elsewhere. */
  finish(line?: string): void;
}

/** All that is said on stderr during a run, apart from the error that ends it. Free of secrets. */
export interface Progress {
  /** Whether lines move, as on a terminal. */
  readonly moves: boolean;
  start(file: StartedFile): FileProgress;
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
 * Shows how a run gets on: lines that move on a terminal, otherwise one line a
 * finished file. With `errorFormat` `json` all that is said are JSON lines
 * (`{"note"}`, `{"trace"}`, `{"error"}`), so nothing moves. A broken stderr is no failure.
 */
export function createProgress(options: ProgressOptions): Progress {
  const { stream, errorFormat, quiet, verbose, secrets, monotonic } = options;
  const color = usesColor(options.color, stream, options.term);
  const shown = shownAs(options);
  const screen = shown === 'bar' ? new Screen(stream) : undefined;
  guardStream(stream);

  const say = (lines: string) => (screen === undefined ? stream.write(lines) : screen.above(lines));
  const tell = createTeller({ errorFormat, quiet, secrets }, say);
  const note = (text: string) => tell('note', text);
  return {
    moves: shown === 'bar',
    note,
    trace: (text) => {
      if (verbose) tell('trace', text);
    },
    failure: (error) => void say(renderError(error, { format: errorFormat, color, verbose, secrets })),
    stop: () => screen?.stop(),
    start: (file) => {
      const name = printable(secrets.redact(file.name));
      const running = new RunningFile({ ...file, name }, monotonic);
      screen?.add(running.line);
      return {
        advance: (bytes) => running.advance(bytes),
        total: (bytes, offset) => running.begin(bytes, offset),
        wait: (text) => {
          running.waiting = printable(secrets.redact(text));
          if (verbose && screen === undefined) note(`${name}: ${text}`);
        },
        finish: (text) => {
          if (text !== undefined && shown !== 'none') note(text);
          screen?.remove(running.line);
        },
      };
    },
  };
}

function shownAs({ mode, errorFormat, quiet, stream, term }: ProgressOptions): 'bar' | 'plain' | 'none' {
  if (quiet || mode === 'none') return 'none';
  const canMove = stream.isTTY === true && term !== 'dumb' && errorFormat === 'text';
  return canMove && mode !== 'plain' ? 'bar' : 'plain';
}
