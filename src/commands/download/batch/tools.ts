import type { Session } from '../../../session/session.ts';
import type { Fetching } from '../../../transfer/fetch-file.ts';
import type { Bounds } from '../../../transfer/limits/bounds.ts';
import type { World } from '../../../world.ts';
import type { OpenBooks } from '../books.ts';

/** What a batch works with. */
export interface BatchTools {
  readonly session: Session;
  readonly fetching: Fetching;
  readonly bounds: Bounds;
  readonly books: OpenBooks;
  readonly world: World;
}
