import { MultiBar, type SingleBar } from 'cli-progress';
import type { OutputStream } from '../../world.ts';
import { FrameTerminal } from './frame-terminal.ts';
import { fileLine, overallLine, type Running } from './lines.ts';

const USUAL_ROWS = 24;

type Stream = OutputStream & { readonly rows?: number };
type Line = (width: number) => string;

/** Bars on a terminal: one for each running file, no more than there are rows for, and above them one for the whole run. */
export class Bars {
  readonly #stream: Stream;
  readonly #running: Running;
  readonly #clear: (text: string) => string;
  readonly #monotonic: () => number;
  readonly #terminal: FrameTerminal;
  readonly #multi: MultiBar;
  readonly #bars: SingleBar[] = [];
  #state: 'new' | 'moving' | 'paused' | 'stopped' = 'new';
  readonly #redraw = () => {
    if (this.#state === 'moving') this.#multi.update();
  };

  /** `clear` makes a text printable, without a secret. */
  constructor(stream: Stream, running: Running, clear: (text: string) => string, monotonic: () => number) {
    this.#stream = stream;
    this.#running = running;
    this.#clear = clear;
    this.#monotonic = monotonic;
    this.#terminal = new FrameTerminal(stream);
    const options = {
      format: (_: unknown, { maxWidth }: { maxWidth: number }, { line }: { line: Line }) => line(maxWidth),
      terminal: this.#terminal,
      gracefulExit: false,
      clearOnComplete: true,
      hideCursor: true,
      linewrap: false,
      noTTYOutput: false,
      forceRedraw: true,
    };
    this.#multi = new MultiBar(options);
    this.#multi.on('update-pre', () => this.#fit());
    this.#multi.on('redraw-post', () => this.#terminal.draw());
    this.#multi.on('stop-pre-clear', () => this.#terminal.clear());
  }

  /** Something moves: it is drawn from the next frame on. */
  wake(): void {
    if (this.#state !== 'new') return;
    this.#state = 'moving';
    this.#stream.on('resize', this.#redraw);
    this.#add();
  }

  /** Writes whole lines above what moves, at the latest with the next frame. */
  log(lines: string): void {
    if (this.#state === 'moving') this.#multi.log(lines);
    else this.#stream.write(lines);
  }

  /** Nothing stands in the way of what is written to this terminal before the next frame. */
  makeWay(): void {
    this.#redraw();
    this.#terminal.clear();
  }

  /** The terminal is somebody else's until `resume`. */
  pause(): void {
    if (this.#state !== 'moving') return;
    this.#state = 'paused';
    // stop() would drop the lines that log() holds.
    this.#multi.update();
    this.#multi.stop();
  }

  resume(): void {
    if (this.#state !== 'paused') return;
    this.#state = 'moving';
    this.#terminal.cursor(false);
    this.#multi.update();
  }

  /** Clears what moves, for good; `echoed`: the keys that end it have been shown. */
  stop(echoed = false): void {
    this.pause();
    this.#stream.off('resize', this.#redraw);
    this.#state = 'stopped';
    if (echoed) this.#terminal.clear(true);
  }

  /** As many bars as there are lines, each with its line. */
  #fit(): void {
    const lines = this.#lines(Math.max(1, (this.#stream.rows || USUAL_ROWS) - 1));
    while (this.#bars.length > lines.length) this.#remove();
    while (this.#bars.length < lines.length) this.#add();
    for (const [index, line] of lines.entries()) this.#bars[index]?.update({ line });
  }

  #lines(rows: number): readonly Line[] {
    if (this.#state !== 'moving') return [];
    const reach = this.#running.reach?.();
    const now = this.#monotonic();
    const files = Array.from(this.#running.files).slice(0, reach ? rows - 1 : rows);
    return [
      ...(reach ? [(width: number) => overallLine(this.#running, reach, now, width)] : []),
      ...files.map((file) => (width: number) => fileLine(file, this.#clear(file.name), now, width)),
    ];
  }

  #add(): void {
    this.#bars.push(this.#multi.create(1, 0, { line: () => '' }));
  }

  #remove(): void {
    const bar = this.#bars.pop();
    if (bar) this.#multi.remove(bar);
  }
}
