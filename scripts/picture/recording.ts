import { until } from '../../test/cli/program.ts';
import type { Clock } from '../../test/cli/screen/clock.ts';
import { CTRL_C, type Screen } from '../../test/cli/screen/screen.ts';
import type { Paced } from './paced.ts';
import { shotOf } from './shot.ts';
import type { Frame } from './svg.ts';

/** The progress of a transfer: percent of the file, and seconds since its start. */
export type Step = readonly [percent: number, seconds: number];

const PROMPT = '$';
const UP = '\x1b[A';
/** Durations of frames, in milliseconds. */
const [KEY_MS, BAR_MS, PAUSE_MS, READ_MS] = [230, 260, 900, 1800];

/** Presses keys, waits for their effect, and records the screen as a frame. */
export class Recording {
  readonly frames: Frame[] = [];
  readonly #at: Screen;
  readonly #clock: Clock;
  readonly #service: Paced;

  constructor(at: Screen, clock: Clock, service: Paced) {
    this.#at = at;
    this.#clock = clock;
    this.#service = service;
  }

  /** Types a command word by word, as a person does. */
  async types(command: string): Promise<void> {
    await this.#prompted();
    this.#take(PAUSE_MS);
    let typed = PROMPT;
    for (const word of command.split(' ')) {
      this.#at.type(typed === PROMPT ? word : ` ${word}`);
      typed += ` ${word}`;
      await this.#shows(typed);
      this.#take(KEY_MS);
    }
  }

  /** Recalls an earlier command from the shell's history, `before` commands back. */
  async recalls(command: string, before: number): Promise<void> {
    await this.#prompted();
    this.#take(READ_MS);
    this.#at.type(UP.repeat(before));
    await this.#shows(`${PROMPT} ${command}`);
    this.#take(PAUSE_MS);
  }

  enters(): void {
    this.#at.type('\r');
  }

  async interrupts(): Promise<void> {
    this.#take(READ_MS, 'Ctrl-C');
    this.#at.type(CTRL_C);
    await this.#prompted();
  }

  /** Records a transfer that starts or resumes at `from` percent. */
  async transfers(from: number, steps: readonly Step[]): Promise<void> {
    const began = this.#clock.seconds();
    for (const [percent, seconds] of [[from, 0] as const, ...steps]) {
      await this.#clock.goTo(began + seconds);
      this.#service.sendUpTo(percent);
      await this.#drawn(`${percent}%`);
      this.#take(BAR_MS);
    }
  }

  /** Sends the rest of the file and waits for the prompt. */
  async completes(): Promise<void> {
    this.#service.sendUpTo(100);
    await this.#prompted();
  }

  async ends(): Promise<void> {
    await this.#prompted();
    this.#take(READ_MS * 3);
  }

  #take(ms: number, pressed?: string): void {
    this.frames.push({ shot: shotOf(this.#at.terminal), ms, pressed });
  }

  #prompted(): Promise<void> {
    return until(() => this.#at.lines().at(-1) === PROMPT && this.#at.cursor() === PROMPT.length + 1);
  }

  #shows(last: string): Promise<void> {
    return until(() => this.#at.lines().at(-1) === last && this.#at.cursor() === last.length);
  }

  /**
   * Waits for a bar with this percentage, which the program draws only when all bytes up to it have arrived, and for a
   * second drawing that is the same, so that the bar is complete.
   */
  async #drawn(percent: string): Promise<void> {
    const at = this.#at;
    for (let before = ''; ; before = at.lines().at(-1) ?? '') {
      const bytes = at.bytes().length;
      await until(() => at.bytes().length > bytes && at.cursor() === 0);
      const now = at.lines().at(-1) ?? '';
      if (now === before && now.includes(` ${percent} `)) return;
    }
  }
}
