import type { Session } from '../../../session/session.ts';
import type { Fetching } from '../../../transfer/fetch-file.ts';
import type { Limits } from '../../../transfer/limits/limits.ts';
import type { Throttle } from '../../../transfer/limits/throttle.ts';
import type { World } from '../../../world.ts';
import type { OpenBooks } from '../books.ts';

/** What a batch works with. */
export interface BatchTools {
  readonly session: Session;
  readonly fetching: Fetching;
  readonly limits: Limits;
  readonly throttle: Throttle | undefined;
  readonly books: OpenBooks;
  readonly world: World;
}
