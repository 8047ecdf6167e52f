import { parseAccession } from '../../service/accession.ts';
import { openSession } from '../../session/session.ts';
import { resolveSettings } from '../../settings/resolve.ts';
import type { Flags } from '../../spec/command.ts';
import type { World } from '../../world.ts';

/**
 * Returns the names of a filing's files, by one request. Returns none if a secret would come from a program or from
 * stdin.
 */
export async function fileNames(flags: Flags, world: World, accession: string): Promise<readonly string[]> {
  const resolved = await resolveSettings(flags, world);
  const { key, token } = resolved.settings;
  const readsStdin = [key, token].some((source) => source?.kind === 'file' && source.path === '-');
  if (readsStdin || key?.kind === 'command') return [];
  const session = await openSession(flags, world, { resolved });
  try {
    const { files } = await session.client.listPage(parseAccession(accession), [], session.signal);
    return files.map(({ file_name }) => file_name);
  } finally {
    await session.close();
  }
}
