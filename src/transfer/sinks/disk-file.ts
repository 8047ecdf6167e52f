import type { Stats } from 'node:fs';
import { FollowingHash } from '../../disk/hash/following-hash.ts';
import { FilingsError } from '../../errors.ts';
import type { ThreadCode } from '../../own-files.ts';
import type { Proof } from '../proof.ts';
import type { Held, Validator } from '../resume.ts';
import { keptMode } from './kept-mode.ts';
import { PartFile } from './part/part-file.ts';
import { type PartPlace, shownPath } from './part/part-place.ts';
import { takeOver } from './part/take-over.ts';
import type { Finished, Sink } from './sink.ts';

/** A file that is to stand under a name of a directory. */
export interface Purpose {
  readonly place: PartPlace;
  readonly proof: Proof;
  readonly hashWorker: ThreadCode;
  readonly signal: AbortSignal;
}

/** How the file takes its name: nothing may stand there, or what does is replaced. */
export interface Naming {
  readonly exclusive: boolean;
  /** Of a plain file that is replaced. */
  readonly replaced?: Stats | undefined;
}

/** A file on disk as a sink: its bytes go into a part beside its name, which it gets when all are there and proved. */
export class DiskFile implements Sink {
  readonly restartable = true;
  readonly #part: PartFile;
  readonly #purpose: Purpose;
  readonly #naming: Naming;
  readonly #hash: FollowingHash;

  private constructor(part: PartFile, purpose: Purpose, naming: Naming) {
    this.#part = part;
    this.#purpose = purpose;
    this.#naming = naming;
    this.#hash = new FollowingHash(part.file, shownPath(purpose.place), purpose.hashWorker);
  }

  /** Goes on with a part of an earlier run where there is one. Throws `local_io`, the signal's reason. */
  static async open(purpose: Purpose, naming: Naming): Promise<DiskFile> {
    const { place, signal } = purpose;
    const leftover = await place.leftovers.claim(place.final, place.identity);
    const part = (leftover && (await takeOver(place, leftover, signal))) ?? (await PartFile.create(place));
    return new DiskFile(part, purpose, naming);
  }

  get held(): Held {
    return this.#part.held;
  }

  async begin(validator: Validator | undefined, total: number | undefined, address: string): Promise<void> {
    await this.#part.begin(validator, total, address);
    if (this.#purpose.proof.hashed) this.#hash.begin(total);
  }

  append(total: number): void {
    this.#part.append(total);
  }

  async write(chunks: readonly Buffer[]): Promise<void> {
    await this.#part.write(chunks);
    if (this.#purpose.proof.hashed) this.#hash.wrote(chunks);
  }

  proves(): Promise<boolean> {
    return this.#purpose.proof.holds(() => this.#sha256());
  }

  /** The part is gone then, but for another's that has its name. */
  async finish(): Promise<Finished> {
    const { exclusive, replaced } = this.#naming;
    const { proof, signal } = this.#purpose;
    const sha256 = await proof.require(() => this.#sha256());
    await this.#hash.close();
    const mode = replaced && keptMode(replaced, await this.#part.file.stat());
    return { placed: await this.#part.commit({ exclusive, mode }, signal), sha256 };
  }

  async abandon(error: unknown): Promise<number> {
    await this.#hash.close();
    if (this.#purpose.signal.aborted || isWorthKeeping(error)) return this.#part.keep();
    await this.#part.discard();
    return 0;
  }

  #sha256(): Promise<string> {
    return this.#hash.sha256(this.#purpose.signal);
  }
}

/** After a temporary failure, a truncation or a signal another run can go on; after any other the bytes are of no use. */
function isWorthKeeping(error: unknown): boolean {
  if (!(error instanceof FilingsError)) return false;
  const { code, retryable } = error;
  return code === 'temporary' || code === 'interrupted' || (code === 'integrity' && retryable);
}
