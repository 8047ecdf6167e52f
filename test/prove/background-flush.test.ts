import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ACCESSION, BIN, NODE, serviceAt, workplace } from '../cli/program.ts';
import { head } from '../servers/answers.ts';
import { startScripted } from '../servers/scripted.ts';

const OLD = Buffer.from('the old file');
const NAME = 'primary.htm';

test('a flush in the background that fails is not forgotten: exit 8, the old file stays', async () => {
  // The first of them begins after 128 MB.
  const block = Buffer.alloc(1 << 20, 'x');
  const large = await startScripted((socket) => {
    socket.write(head(200, { 'Content-Length': 140 * block.length, ETag: '"v1"' }));
    for (let sent = 0; sent < 140; sent += 1) socket.write(block);
  });
  const place = await workplace();
  await writeFile(join(place.path, NAME), OLD);
  const options = ['-f', '-o', '/dev/null', '-e', 'trace=fdatasync', '-e', 'inject=fdatasync:error=EIO'];
  const line = `strace ${options.join(' ')} ${NODE} ${BIN} download ${ACCESSION} ${NAME} --if-exists overwrite`;
  const { exitCode, stderr } = await place.shell(line, serviceAt(large.url));
  await large.close();
  expect(exitCode, stderr).toBe(8);
  expect(await place.names()).toEqual([NAME]);
  expect(await place.read(NAME)).toEqual(OLD);
});
