import { onAbort } from '../abort.ts';
import { FilingsError } from '../errors.ts';
import { guardStream } from '../stdio/output.ts';
import type { World } from '../world.ts';
import type { Reach, Running, RunningFile, Wait } from './lines.ts';
import { createTeller, renderError, type TellerSettings, usesColor } from './messages.ts';
import { printable } from './printable.ts';

const CTRL_C_STATUS = 130;

export interface ProgressSettings extends TellerSettings {
  readonly progress: 'auto' | 'bar' | 'plain' | 'none';
  readonly verbose: boolean;
  readonly color: 'auto' | 'always' | 'never';
}

type Around = Pick<World, 'stderr' | 'env' | 'secrets' | 'monotonic' | 'interrupt' | 'onSuspend'>;

export interface FileProgress {
  advance(bytes: number): void;
  /** The length is known, or known to be unknown; at `offset` it begins or goes on. */
  total(bytes: number | undefined, offset?: number): void;
  /** Counted down; the next byte ends it. */
  wait(wait: Wait): void;
  /** The line says how it has ended, where nobody else tells. */
  finish(line?: string): void;
}

/** All that is said on stderr during a run, apart from the error that ends it. */
export interface Progress {
  /** Bars are drawn. */
  readonly moves: boolean;
  start(name: string): FileProgress;
  overall(reach: () => Reach | undefined): void;
  /** Whole lines are about to be written to this terminal. */
  makeWay(): void;
  note(text: string): void;
  trace(text: string): void;
  failure(error: FilingsError): void;
  /** Anything said later is plain lines. */
  stop(): void;
}

/**
 * Bars on a terminal, otherwise one line a finished file and one a wait. With `errorFormat` `json` nothing
 * moves. A broken stderr is no failure.
 */
export async function createProgress(settings: ProgressSettings, around: Around): Promise<Progress> {
  const { stderr, env, secrets, monotonic, interrupt } = around;
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
  const tell = createTeller(messages, secrets, say);
  const note = (text: string) => tell('note', text);
  return {
    moves: bars !== undefined,
    note,
    trace: (text) => tell('trace', text),
    failure: (error) => say(renderError(error, messages)),
    makeWay: () => bars?.makeWay(),
    overall(reach) {
      running.reach = reach;
      bars?.show();
    },
    stop() {
      forgetInterrupt();
      forgetSuspend?.();
      bars?.stop();
    },
    start(name) {
      const file: RunningFile = { name, from: 0, since: monotonic() };
      running.files.add(file);
      bars?.show();
      return {
        advance(bytes) {
          file.bytes = (file.bytes ?? file.from) + bytes;
          file.waiting = undefined;
          running.bytes += bytes;
        },
        total(total, at = file.bytes ?? 0) {
          Object.assign(file, { total, bytes: at, from: at, since: monotonic(), waiting: undefined });
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

function shownAs({ progress, quiet, errorFormat }: ProgressSettings, { stderr, env }: Around) {
  if (quiet || progress === 'none') return 'none';
  const canMove = stderr.isTTY === true && env.TERM !== 'dumb' && errorFormat === 'text';
  return canMove && progress !== 'plain' ? 'bar' : 'plain';
}
