import { ChecksumFiles } from '../../transfer/checksums/checksum-files.ts';
import type { World } from '../../world.ts';
import type { Order } from './order/order.ts';

/** The checksum files that a run keeps, where it is to. */
export function checksumsOf({ options }: Order, { platform, uid, now }: World): ChecksumFiles | undefined {
  return options.checksums ? new ChecksumFiles({ shard: undefined, platform, uid, now }) : undefined;
}
