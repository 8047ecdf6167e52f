const OWNED = /^\.(.+?)\.[0-9a-f_]{8}-[0-9a-f_]{8}-[0-9a-f_]{8}-([0-9a-z]+)-[0-9a-z_]+\.[0-9a-z]+\.(part|resume|lock)$/;

/** What a name says of a part, its record or its lock. */
export function readPartName(name: string): { stem: string; pid: number; kind: string } | undefined {
  const [, stem = '', owner = '', kind = ''] = OWNED.exec(name) ?? [];
  return stem === '' ? undefined : { stem, pid: Number.parseInt(owner, 36), kind };
}

export function ownerOf(name: string): number | undefined {
  return readPartName(name)?.pid;
}
