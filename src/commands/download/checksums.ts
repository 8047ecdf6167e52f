import { ChecksumFiles } from '../../transfer/checksums/checksum-files.ts';
import type { World } from '../../world.ts';
import type { Order } from './order.ts';

/** The checksum files that a run keeps, where it is to. */
export function checksumsOf({ options, shard }: Order, { platform, uid }: World): ChecksumFiles | undefined {
  return options.checksums ? new ChecksumFiles({ shard, platform, uid }) : undefined;
}
