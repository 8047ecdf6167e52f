import { statfs } from 'node:fs/promises';

/**
 * File systems that are somewhere else, or may be, by the number that Linux gives them (statfs(2), linux/magic.h).
 * What goes through FUSE can be anything.
 */
const NETWORK: ReadonlySet<number> = new Set([
  0x6969, // NFS
  0x517b, // SMB
  0xff534d42, // CIFS
  0xfe534d42, // SMB2
  0x01021997, // 9P
  0x65735546, // FUSE
  0x0bd00bd0, // Lustre
  0x47504653, // GPFS
  0x5346414f, // AFS
  0x6b414653, // kAFS
  0x00c36400, // Ceph
  0x73757245, // Coda
  0x564c, // NCP
  0x01161970, // GFS2
  0x7461636f, // OCFS2
  0x19830326, // BeeGFS
  0xaad7aaea, // PanFS
  0x7c7c6673, // Parallels' shared folders
  0x786f4256, // VirtualBox' shared folders
  0xbacbacbc, // VMware's shared folders
]);

/** Whether a file system of this type (statfs(2), of Linux) takes appends of several machines each as a whole. */
export function isNetworkType(type: number): boolean {
  // Some systems give the number with a sign.
  return NETWORK.has(type >>> 0);
}

/**
 * Whether each append to a file of this directory is whole and at its end, whoever else appends. Only Linux tells what a
 * file system is; what can't be known is not.
 */
export async function appendsAreAtomic(directory: string, platform: string): Promise<boolean> {
  if (platform !== 'linux') return false;
  return statfs(directory).then(
    ({ type }) => !isNetworkType(type),
    () => false,
  );
}
