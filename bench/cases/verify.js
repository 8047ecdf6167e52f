// `filings verify` compared with `sha256sum -c`.
import { execFileSync } from 'node:child_process';
import { randomFillSync } from 'node:crypto';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { names } from '../material.js';
import { ratio } from '../rows.js';

function verified(of, bound, describe) {
  return {
    what: (sizes) => `\`verify\` of ${describe(sizes)}, against \`sha256sum -c\``,
    needs: ['sha256sum'],
    measure: async ({ bench, filings, folder, sizes }) => {
      const place = join(folder, 'sums');
      const { count, bytes } = of(sizes);
      await mkdir(place);
      try {
        const block = randomFillSync(Buffer.alloc(bytes));
        for (const [at, name] of names(count).entries()) {
          // Each file differs, as real files do.
          block.writeUInt32LE(at, 0);
          await writeFile(join(place, name), block);
        }
        execFileSync('sh', ['-c', 'ls | xargs sha256sum > ../SUMS && mv ../SUMS SHA256SUMS && sync'], { cwd: place });
        const peer = ['sh', '-c', 'cd "$1" && exec sha256sum --quiet -c SHA256SUMS', 'sh', place];
        return ratio(
          await bench.pairs({ argv: [...filings, 'verify', place] }, { argv: peer }, sizes.longPairs),
          bound,
        );
      } finally {
        await rm(place, { recursive: true, force: true });
      }
    },
  };
}

export const VERIFY = [
  verified(
    ({ present }) => ({ count: present, bytes: 20_000 }),
    0.8,
    ({ present }) => `${present} x 20 kB`,
  ),
  verified(
    ({ large }) => ({ count: 8, bytes: large / 8 }),
    0.4,
    ({ large }) => `8 x ${large / 8 / 2 ** 20} MiB`,
  ),
];
