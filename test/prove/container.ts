const user = process.geteuid?.() === 0 ? [] : ['--user', '--map-root-user'];

/** A command line that runs another one in a container. The container ends with it. */
export function container(namespaces: readonly string[], setUp: string): string[] {
  const flags = [...user, '--mount', '--fork', '--kill-child', ...namespaces];
  return ['unshare', ...flags, 'bash', '-c', `{ ${setUp}; } || exit 99; exec "$@"`, 'container'];
}
