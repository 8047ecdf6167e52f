import { spawn } from 'node:child_process';
import dns, { type LookupAddress } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';

/** Asks the system as this process would: the same files, servers and order. By its whole path: nobody else's program is run. */
const ASKER = '/usr/bin/getent';
/** A resolver that says no says so sooner; one that is not there is waited for longer. */
const SOON_MS = 2000;

/**
 * Looks a name up by a process of its own, which the signal ends. Within this process a look-up can't be called off: it holds a thread
 * until the resolver gives up (half a minute, where three name servers say nothing), and as long the process can't end.
 * Where there is no such program it is done within.
 */
export function endableLookup(signal: AbortSignal, monotonic: () => number): LookupFunction {
  return (hostname, options, done) => {
    const within = () => dns.lookup(hostname, options, done);
    // It would be an option.
    if (hostname.startsWith('-')) {
      within();
      return;
    }
    const begun = monotonic();
    asked(hostname, signal).then(
      (addresses) => {
        const [first] = addresses;
        if (signal.aborted) done(signal.reason, []);
        else if (first === undefined && monotonic() - begun < SOON_MS) within();
        else if (first === undefined) done(unanswered(hostname), []);
        else if (options.all) done(null, addresses);
        else done(null, first.address, first.family);
      },
      // It could not be run.
      within,
    );
  };
}

/** The addresses that the system's program names, in their order; none where it found none or the signal ended it. Throws where it can't be run. */
function asked(hostname: string, signal: AbortSignal): Promise<LookupAddress[]> {
  return new Promise((resolve, reject) => {
    const child = spawn(ASKER, ['ahosts', hostname], { stdio: ['ignore', 'pipe', 'ignore'] });
    const end = () => child.kill('SIGKILL');
    const over = () => signal.removeEventListener('abort', end);
    let text = '';
    child.stdout.setEncoding('latin1').on('data', (piece: string) => {
      text += piece;
    });
    child.once('error', (error) => {
      over();
      reject(error);
    });
    child.once('close', () => {
      over();
      resolve(addressesIn(text));
    });
    signal.addEventListener('abort', end, { once: true });
    if (signal.aborted) end();
  });
}

/** Pure: of `192.0.2.1  STREAM name` and the like each address once. */
export function addressesIn(text: string): LookupAddress[] {
  const words = text.split('\n').map((line) => line.split(/\s/, 1)[0] ?? '');
  return [...new Set(words)].filter((word) => isIP(word) > 0).map((address) => ({ address, family: isIP(address) }));
}

/** As the system's own look-up says it. */
function unanswered(hostname: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`getaddrinfo EAI_AGAIN ${hostname}`), { code: 'EAI_AGAIN', syscall: 'getaddrinfo' });
}
