import { FilingsError } from '../../errors.ts';

/** A block of PEM (RFC 7468) that holds a key. */
export interface PemKey {
  /** The whole block, its lines included. */
  readonly text: string;
  readonly isPrivate: boolean;
  readonly isEncrypted: boolean;
}

/** Where a block begins or ends; a label is never long. */
const EDGE = /-----(BEGIN|END) ([A-Z0-9 ]{1,64})-----/g;
const PRIVATE = ['PRIVATE KEY', 'RSA PRIVATE KEY', 'EC PRIVATE KEY', 'ENCRYPTED PRIVATE KEY', 'DSA PRIVATE KEY'];
const PUBLIC = ['PUBLIC KEY', 'RSA PUBLIC KEY'];

/**
 * The key in PEM text: PKCS#8, PKCS#1, SEC1 or SPKI. A private key wins over whatever lies beside it
 * (`EC PARAMETERS`, its certificate).
 *
 * @throws FilingsError `config`: no key in it, or several; the hint says how to make one of what is there
 */
export function findPemKey(text: string, what: string): PemKey {
  const blocks = blocksIn(text);
  const privates = blocks.filter(({ label }) => PRIVATE.includes(label));
  const found = privates.length > 0 ? privates : blocks.filter(({ label }) => PUBLIC.includes(label));
  const [key, another] = found;
  if (key === undefined) throw noKey(text, what, blocks[0]?.label);
  if (another !== undefined) {
    throw new FilingsError('config', `${what}: it holds ${found.length} keys`, { hint: 'put each into its own file' });
  }
  return {
    text: key.whole,
    isPrivate: privates.length > 0,
    isEncrypted: key.label === 'ENCRYPTED PRIVATE KEY' || /^Proc-Type: 4,ENCRYPTED/m.test(key.whole),
  };
}

interface Block {
  readonly whole: string;
  readonly label: string;
}

/** The blocks that end as they began, in one pass: a BEGIN without its END is left for the next. */
function blocksIn(text: string): readonly Block[] {
  const blocks: Block[] = [];
  let open: { readonly label: string; readonly start: number } | undefined;
  for (const { 0: edge, 1: kind, 2: label = '', index } of text.matchAll(EDGE)) {
    if (kind === 'BEGIN') open = { label, start: index };
    else if (open?.label === label) {
      blocks.push({ label, whole: text.slice(open.start, index + edge.length) });
      open = undefined;
    }
  }
  return blocks;
}

/** Whether text is PEM or means to be, wherever it begins. */
export function looksLikePem(text: string): boolean {
  return text.includes('-----BEGIN ') || text.includes('---- BEGIN ');
}

/** Also behind a comment, options or a host's name, as in `authorized_keys` and `known_hosts`. */
const SSH_KEY = /(?:^|[\s"',])(?:ssh-(?:rsa|ed25519|dss)|ecdsa-sha2-[\w-]{1,20}|sk-[\w-]{1,30}@openssh\.com)\s+AAAA/;

/** Whether text is a key of SSH. */
export function looksLikeSsh(text: string): boolean {
  return SSH_KEY.test(text) || text.includes('---- BEGIN SSH2') || text.startsWith('PuTTY-User-Key-File');
}

/** The error for a key of SSH, which JWT software does not take. */
export function sshKey(what: string): FilingsError {
  return new FilingsError('config', `${what}: it is an SSH key, in a format of SSH's own`, {
    hint: "a copy can be turned into PEM: 'ssh-keygen -p -m PKCS8 -f COPY' for a private key, 'ssh-keygen -e -m PKCS8 -f KEY.pub' for a public one",
  });
}

function noKey(text: string, what: string, label: string | undefined): FilingsError {
  if (text.includes('BEGIN OPENSSH ') || looksLikeSsh(text)) return sshKey(what);
  const found = label ?? /-----BEGIN ([A-Z0-9 ]{1,64})-----/.exec(text)?.[1];
  if (label === undefined && found !== undefined) {
    const hint = 'copy the whole file again, with its BEGIN and END lines';
    return new FilingsError('config', `${what}: its PEM block "${found}" is cut off or garbled`, { hint });
  }
  if (found?.endsWith('CERTIFICATE')) {
    return new FilingsError('config', `${what}: it is a certificate, not a key`, {
      hint: `take the public key out of it: openssl x509 -in FILE -pubkey -noout`,
    });
  }
  const hint = 'a key in PEM begins with a line such as -----BEGIN PRIVATE KEY----- or -----BEGIN PUBLIC KEY-----';
  return new FilingsError('config', `${what}: its PEM block "${found ?? ''}" is not a key`, { hint });
}
