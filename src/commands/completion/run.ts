import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Invocation } from '../../spec/invocation.ts';
import { write } from '../../stdio/output.ts';
import type { World } from '../../world.ts';

/** `filings completion bash|zsh|fish`: the script that was generated from the specs. */
export async function run({ args }: Invocation, { root, stdout }: World): Promise<number> {
  await write(stdout, await readFile(join(root, `completions/filings.${args[0]}`)));
  return 0;
}
