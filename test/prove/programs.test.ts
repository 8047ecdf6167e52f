import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

// The programs that the tests of npm run prove call. .ci/run installs their packages.
const PROGRAMS =
  'bash curl fish flock jq losetup mandoc mkfs.exfat mkfs.ext4 mount.exfat-fuse munged nginx openssl parallel ' +
  'setpriv sha256sum slurmctld slurmd split squid strace systemd-analyze unshare zsh';
// Debian keeps some of them outside the PATH of a user.
const PATH = `${process.env.PATH}:/usr/sbin:/sbin`;

test.each(PROGRAMS.split(' '))('%s is installed', (program) => {
  const isThere = PATH.split(':').some((folder) => existsSync(join(folder, program)));
  expect(isThere, `${program} is missing: npm run prove needs it`).toBe(true);
});
