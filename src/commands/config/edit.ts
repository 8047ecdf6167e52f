import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { childOf } from '../../abort.ts';
import { FilingsError } from '../../errors.ts';
import { editConfigFile, noHome, settingForFile, settingNamed, valueForFile } from '../../settings/config-edit.ts';
import { locateConfig } from '../../settings/config-file.ts';
import type { NamedSetting } from '../../settings/table.ts';
import type { Invocation } from '../../spec/command.ts';
import { readStdin } from '../../stdio/input.ts';
import { write } from '../../stdio/output.ts';
import { printable } from '../../terminal/printable.ts';
import { interruptedBy, type World } from '../../world.ts';

export async function set({ args, flags }: Invocation, world: World): Promise<number> {
  const [name = '', given] = args;
  const spec = settingForFile(name);
  const text = given ?? (await askedFor(spec, world));
  if (spec.secret) world.secrets.add(text);
  await editConfigFile(locateConfig(flags, world), spec.key, valueForFile(spec, text, world.cwd), world);
  return 0;
}

export async function unset({ args, flags }: Invocation, world: World): Promise<number> {
  const { key } = settingNamed(args[0] ?? '', true);
  await editConfigFile(locateConfig(flags, world), key, undefined, world);
  return 0;
}

export async function path({ flags }: Invocation, world: World): Promise<number> {
  const { path: file } = locateConfig(flags, world);
  if (file === undefined) throw noHome();
  await write(world.stdout, `${printable(file)}\n`, world.interrupt);
  return 0;
}

/** Reads the value of a secret that is not on the command line, from a hidden prompt or stdin. */
async function askedFor({ key, secret }: NamedSetting, world: World): Promise<string> {
  if (!secret) {
    throw new FilingsError('usage', `config set ${key}: VALUE is missing`, { hint: 'see filings config set --help' });
  }
  if (world.stdin.isTTY) return askHidden(`${key}: `, world);
  return (await readStdin(world.stdin, key, world.interrupt)).toString().replace(/\r?\n$/, '');
}

/** Does not show what is typed. */
async function askHidden(
  question: string,
  { stdin, stderr, interrupt }: Pick<World, 'stdin' | 'stderr' | 'interrupt'>,
): Promise<string> {
  const { signal, abort, letGo } = childOf(interrupt);
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const terminal = createInterface({ input: stdin, output: nowhere, terminal: true, historySize: 0 });
  // The terminal gives Ctrl-C and Ctrl-D to us.
  terminal.on('SIGINT', () => abort(interruptedBy('SIGINT')));
  terminal.on('close', () => abort(new FilingsError('usage', `${question}nothing was entered`)));
  try {
    signal.throwIfAborted();
    const answer = terminal.question('', { signal });
    // Its failure is thrown where it is awaited.
    answer.catch(() => {});
    // Asked when nothing is shown any more: an answer may come at once.
    await write(stderr, question);
    return await answer;
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  } finally {
    terminal.close();
    letGo();
    stdin.destroy();
    await write(stderr, '\n');
  }
}
