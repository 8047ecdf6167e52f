import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { diskFailure } from '../../disk/failure.ts';
import { replaceFile } from '../../disk/replace-file.ts';
import { readSmallFile } from '../../disk/secret-file.ts';
import { errnoOf, FilingsError } from '../../errors.ts';
import { checkDraft } from '../../settings/file/draft-fault.ts';
import { configText, newConfig, noHome } from '../../settings/file/edit.ts';
import { locateConfig } from '../../settings/file/location.ts';
import { openConfig } from '../../settings/file/read.ts';
import type { Invocation } from '../../spec/invocation.ts';
import { write } from '../../stdio/output.ts';
import { printable } from '../../terminal/printable.ts';
import type { World } from '../../world.ts';
import { askAgain, editFile } from './editor.ts';

/** `filings config edit`: a private copy in an editor, which takes the file's place when nothing is wrong with it. */
export async function run({ flags }: Invocation, world: World): Promise<number> {
  const { path } = locateConfig(flags, world).location;
  if (path === undefined) throw noHome();
  const before = await standing(path, world);
  const draft = await openDraft(before ?? configText(newConfig(world)), world);
  try {
    await editUntilRight(draft, world);
    const after = await written(draft, world);
    if (after !== draft.text) {
      if ((await standing(path, world)) !== before) {
        throw new FilingsError('config', `config file ${path}: something else changed it meanwhile`);
      }
      await replaceFile(path, after, 'name another file with --config');
    }
  } catch (error) {
    const isKept = (await written(draft, world).catch(() => draft.text)) !== draft.text;
    if (!isKept) await draft.remove();
    throw isKept ? withCopy(error, draft.path) : error;
  }
  await draft.remove();
  return 0;
}

/** The file's text; undefined where there is none. */
async function standing(path: string, world: World): Promise<string | undefined> {
  try {
    return (await openConfig(path, world)).bytes.toString();
  } catch (error) {
    if (error instanceof FilingsError && errnoOf(error.cause) === 'ENOENT') return undefined;
    throw error;
  }
}

interface Draft {
  readonly path: string;
  /** As it began. */
  readonly text: string;
  remove(): Promise<void>;
}

/** It may hold a key: in a directory that nobody else may enter, editors' backups with it. */
async function openDraft(text: string, { env }: World): Promise<Draft> {
  const place = env.TMPDIR || '/tmp';
  try {
    const directory = await mkdtemp(join(place, 'filings-config-'));
    const path = join(directory, 'config.json');
    await writeFile(path, text, { mode: 0o600, flag: 'wx' });
    return { path, text, remove: () => rm(directory, { recursive: true, force: true }) };
  } catch (error) {
    throw diskFailure(error, place, 'name another directory with TMPDIR');
  }
}

/** What the editor left there, which may be anything. Throws `config`. */
async function written({ path }: Draft, { interrupt }: World): Promise<string> {
  const { bytes } = await readSmallFile(path, 'what the editor left:', interrupt, (stats) => {
    if (!stats.isFile()) throw new FilingsError('config', `what the editor left: ${path}: not a regular file`);
  });
  return bytes.toString();
}

/** Where a person can be asked, what is wrong is told and edited again. Throws what is wrong. */
async function editUntilRight(draft: Draft, world: World): Promise<void> {
  for (;;) {
    await editFile(draft.path, world);
    const text = await written(draft, world);
    // What was wrong before and was not touched is not this edit's fault.
    if (text === draft.text) return;
    try {
      return await checkDraft(text);
    } catch (error) {
      const { stdin, stderr, secrets } = world;
      if (!(error instanceof FilingsError) || !stdin.isTTY || !stderr.isTTY) throw error;
      await write(stderr, `filings: ${printable(secrets.redact(error.message))}\n`, world.interrupt);
      if (!(await askAgain(world))) throw error;
    }
  }
}

/** What was typed is not lost. */
function withCopy(error: unknown, path: string): unknown {
  if (!(error instanceof FilingsError)) return error;
  const kept = `the config file is as it was; what you wrote is in ${path}`;
  return error.reworded(error.message, { hint: error.hint === undefined ? kept : `${error.hint}; ${kept}` });
}
