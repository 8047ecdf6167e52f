import type { Directory } from '../directory/directory.ts';

/**
 * The time by a directory's file system's own clock, which on a network disk is another machine's: that of a file made
 * for it, and gone again. `probe` names it. Undefined when none can be made. Never throws.
 */
export async function timeIn(directory: Directory, probe: () => string): Promise<Date | undefined> {
  const made = await directory.create(probe, 0o600).catch(() => undefined);
  if (!made) return undefined;
  try {
    return (await made.handle.stat()).mtime;
  } catch {
    return undefined;
  } finally {
    await made.handle.close().catch(() => {});
    await directory.disk.unlink(directory.entry(made.name)).catch(() => {});
  }
}
