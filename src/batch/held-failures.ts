import type { FilingsError } from '../errors.ts';

/**
 * Tells failures a line each, but holds those back that may turn out to be one cause: files in a row that could not even
 * connect, or that were answered with 403. When that stops the batch it is told once, at its end.
 */
export class HeldFailures {
  readonly #tell: (error: FilingsError) => void;
  #held: FilingsError[] = [];
  #kind: string | undefined;

  constructor(tell: (error: FilingsError) => void) {
    this.#tell = tell;
  }

  /** The next one has ended, well or not. */
  next(error: FilingsError | undefined): void {
    const kind = error && kindOf(error);
    if (kind === undefined || kind !== this.#kind) this.flush();
    this.#kind = kind;
    if (error === undefined) return;
    if (kind === undefined) this.#tell(error);
    else this.#held.push(error);
  }

  /** What was held back is told after all. */
  flush(): void {
    for (const error of this.#held.splice(0)) this.#tell(error);
  }

  /** The run has ended: what stopped it for being held back so often is told with that, anything else after all. */
  end(stoppedBy: FilingsError | undefined): void {
    if (this.#held.some((error) => error === stoppedBy?.cause)) this.#held = [];
    else this.flush();
  }
}

function kindOf({ connected, problem }: FilingsError): string | undefined {
  if (!connected) return 'unreachable';
  return problem?.status === 403 ? 'forbidden' : undefined;
}
