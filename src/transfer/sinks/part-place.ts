import type { Directory } from '../../disk/directory.ts';
import type { Heartbeat } from '../../disk/owner/heartbeat.ts';
import type { Owner } from '../../disk/owner/owner.ts';
import type { Leftovers } from './leftovers.ts';
import type { Identity } from './resume-record.ts';

/** Where parts live, and for which file. */
export interface PartPlace {
  readonly directory: Directory;
  readonly leftovers: Leftovers;
  readonly heartbeat: Heartbeat;
  readonly final: string;
  readonly owner: Owner;
  readonly uid: number | undefined;
  /** Tells the parts of this process apart. */
  readonly nextSerial: () => string;
  readonly identity: Identity;
}
