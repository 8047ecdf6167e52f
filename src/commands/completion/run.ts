import type { Invocation } from '../../spec/invocation.ts';
import { write } from '../../stdio/output.ts';
import type { World } from '../../world.ts';

/** `filings completion bash|zsh|fish`: the script that was generated from the specs. */
export async function run({ args }: Invocation, { own, stdout }: World): Promise<number> {
  await write(stdout, own.read(`completions/filings.${args[0]}`));
  return 0;
}
