/**
 * File systems on a disk of this machine, or in its memory, by the number that Linux gives them (statfs(2),
 * linux/magic.h). Where one of these hangs, a thread of the pool hangs in the kernel just as well, and no signal ends it.
 */
const LOCAL: ReadonlySet<number> = new Set([
  0xef53, // ext2, ext3, ext4
  0x58465342, // XFS
  0x9123683e, // Btrfs
  0xf2f52010, // F2FS
  0xca451a4e, // bcachefs
  0x2fc12fc1, // ZFS
  0x01021994, // tmpfs
  0x858458f6, // ramfs
  0x794c7630, // overlayfs, in containers
]);

/** Whether a file system of this type (statfs(2), of Linux) is on this machine; what is not known is not. */
export function isLocalType(type: number): boolean {
  return LOCAL.has(type >>> 0);
}
