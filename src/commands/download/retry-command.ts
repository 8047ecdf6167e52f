import { DEFAULT_LAYOUT } from '../../batch/layout.ts';
import type { FilingsError } from '../../errors.ts';
import type { Flags } from '../../spec/command.ts';
import { shellWord } from '../../text.ts';
import type { Order } from './order.ts';

// Adds the command that retries the failed files to the final error of a run. Takes the error, the order and the flags;
// gives the error with a command that reads the failed list.

interface RetryHintOptions {
  /** Whether the error belongs to one file or listing and therefore keeps its own hint. */
  readonly isOwn: boolean;
  readonly order: Order;
  readonly flags: Flags;
  /** Completes a command so that it uses the same service. */
  readonly hintCommand: (command: string) => string;
}

/** Returns the final error of a run with `--failed`, with the command that retries the failed files. */
export function withRetryHint(
  error: FilingsError,
  { isOwn, order, flags, hintCommand }: RetryHintOptions,
): FilingsError {
  const { output, options } = order;
  // The failed list has no place for the path or the hash of the one file: only the same command can retry it.
  if (output !== undefined || options.sha256 !== undefined) return error;
  const hasOwnHint = error.hint !== undefined && (isOwn || error.stopsRun);
  const command = hintCommand(commandFor(order, flags));
  return error.with({ hint: hasOwnHint ? error.hint : undefined, retryCommand: command });
}

/** Returns the command that downloads the files of the failed list to the same paths as this run. */
function commandFor({ directory, layout, isChosen, query, options }: Order, { pageSize }: Flags): string {
  const { failed = '', all, include, exclude, ifExists, checksums, done } = options;
  const isDefault = layout.template === DEFAULT_LAYOUT;
  return [
    `filings download -i ${pathWord(failed)}`,
    ...(options.directory === undefined ? [] : [`-d ${pathWord(directory)}`]),
    ...(isDefault ? [] : [option('layout', layout.template)]),
    // A failed listing is a line without a file name, so that the retry selects its files again.
    ...(all ? ['--all'] : []),
    ...include.map((glob) => option('include', glob)),
    ...exclude.map((glob) => option('exclude', glob)),
    ...(isChosen ? query.filter(isNotKey).map(([name, value]) => option('query', `${name}=${value}`)) : []),
    ...(isChosen && typeof pageSize === 'string' ? [option('page-size', pageSize)] : []),
    ...(ifExists === undefined ? [] : [option('if-exists', ifExists)]),
    ...(checksums ? ['--checksums'] : []),
    ...(done === undefined ? [] : [option('done', done)]),
  ].join(' ');
}

/** A key in `--query` is a secret, which a hint must not print. */
const isNotKey = ([name]: readonly [name: string, value: string]) => name.toLowerCase() !== 'apikey';

function option(flag: string, value: string): string {
  return `--${flag}${value.startsWith('-') ? '=' : ' '}${shellWord(value)}`;
}

/** A path that begins with a hyphen would be an option. */
function pathWord(path: string): string {
  return shellWord(path.startsWith('-') ? `./${path}` : path);
}
