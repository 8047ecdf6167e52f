import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ChecksumFiles } from '../../src/transfer/checksums/checksum-files.ts';
import { UnflushedSums } from '../../src/transfer/mirror/unflushed-sums.ts';
import { Places } from '../../src/transfer/places.ts';
import { temporaryDirectory, tenant } from './transfer-fixture.ts';

test('a flush that many directories bring about fails none of their files, and stops the run at each filing that is through', async () => {
  const directory = await temporaryDirectory();
  // No plain file, which can't be flushed.
  await mkdir(join(directory, '0/SHA256SUMS'), { recursive: true });
  const sums = new ChecksumFiles({
    shard: undefined,
    platform: process.platform,
    uid: process.getuid?.(),
    now: Date.now,
  });
  const places = new Places(tenant());
  const unflushed = new UnflushedSums(sums, places);
  for (let count = 0; count < 300; count += 1) await unflushed.note({ directory, below: `${count}`, make: true }, true);
  for (let again = 0; again < 2; again += 1) {
    await expect(unflushed.flush()).rejects.toMatchObject({ code: 'local_io' });
  }
  await places.close();
});
