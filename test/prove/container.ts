import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';

const user = process.geteuid?.() === 0 ? [] : ['--user', '--map-root-user'];

/** A command line that runs the one behind it in a container, which dies with it. */
export function container(namespaces: readonly string[], setUp: string): string[] {
  const flags = [...user, '--mount', '--fork', '--kill-child', ...namespaces];
  return ['unshare', ...flags, 'bash', '-c', `{ ${setUp}; } || exit 99; exec "$@"`, 'container'];
}

/** Why a container can't be made here; undefined when it can. */
export async function obstacle(command: readonly string[]): Promise<string | undefined> {
  const [file = '', ...args] = [...command, 'true'];
  return promisify(execFile)(file, args).then(
    () => undefined,
    (error) => String(error.stderr || error.message).trim(),
  );
}

/**
 * A command line that runs the one behind it as the first process of a pod: host name and process namespace are its own,
 * the boot is that of its node, whose id is in the file `bootId`.
 */
export function pod(name: string, bootId: string): string[] {
  const boot = `mount --bind '${bootId}' /proc/sys/kernel/random/boot_id`;
  return container(['--pid', '--uts'], `hostname ${name}; mount -t proc proc /proc && ${boot}`);
}

/** The first process of a container, by the number that it has out here; undefined when it has ended. */
export function firstProcess(unshare: number): number | undefined {
  try {
    const [first] = readFileSync(`/proc/${unshare}/task/${unshare}/children`, 'utf8').split(' ');
    return first ? Number(first) : undefined;
  } catch {
    return undefined;
  }
}
