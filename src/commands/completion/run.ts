import { bashCompletion } from '../../reference/completion-bash.ts';
import { fishCompletion } from '../../reference/completion-fish.ts';
import { completionModel, type OfferedCommand } from '../../reference/completion-model.ts';
import { zshCompletion } from '../../reference/completion-zsh.ts';
import type { CommandSpec } from '../../spec/command.ts';
import type { CommandModule } from '../../spec/invocation.ts';
import { write } from '../../stdio/output.ts';

const SHELLS: Readonly<Record<string, (model: readonly OfferedCommand[]) => string>> = {
  bash: bashCompletion,
  zsh: zshCompletion,
  fish: fishCompletion,
};

/** `filings completion bash|zsh|fish`: the text that stands in `completions/`, too. */
export function completion(commands: readonly CommandSpec[]): CommandModule {
  return {
    async run({ args }, { stdout }) {
      await write(stdout, SHELLS[args[0] ?? '']?.(completionModel(commands)) ?? '');
      return 0;
    },
  };
}
