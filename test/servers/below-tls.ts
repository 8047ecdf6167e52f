import { type AddressInfo, connect, createServer } from 'node:net';

const HEADER_BYTES = 5;
const ALERT = 21;
const APPLICATION_DATA = 23;
/** Two bytes of alert, its type, and the tag: in TLS 1.3 an alert looks like data. */
const ENCRYPTED_ALERT_BYTES = 19;

export interface Relay {
  readonly port: number;
  readonly connections: () => number;
  close(): void;
}

/**
 * A relay to a TLS server that meddles below TLS, as anybody on the way can: it `swallows` the closure alert, so that
 * a bare FIN ends the connection, or `cuts` so many bytes off the last record before it.
 */
export async function relayBelow(port: number, meddle: { swallows: boolean; cuts?: number }): Promise<Relay> {
  let connections = 0;
  const relay = createServer((near) => {
    connections += 1;
    const far = connect(port, '127.0.0.1').on('error', () => near.destroy());
    near.on('error', () => {}).on('close', () => far.destroy());
    near.pipe(far);
    let held: Buffer = Buffer.alloc(0);
    /** What may be the end: it goes on when more comes. */
    let waiting: Buffer[] = [];
    far.on('data', (data) => {
      const { records, rest } = split(Buffer.concat([held, data]));
      held = rest;
      for (const record of records) {
        if (isAlert(record)) waiting.push(record);
        else {
          near.write(Buffer.concat(waiting));
          // Behind the handshake, whose last record is a small one.
          waiting = meddle.cuts !== undefined && record.length > 200 ? [record] : [];
          if (waiting.length === 0) near.write(record);
        }
      }
    });
    far.on('end', () => {
      if (meddle.swallows) waiting.pop();
      const end = Buffer.concat(waiting);
      near.end(end.subarray(0, end.length - (meddle.cuts ?? 0)));
    });
  });
  await new Promise<void>((resolve) => relay.listen(0, '127.0.0.1', resolve));
  return {
    port: (relay.address() as AddressInfo).port,
    connections: () => connections,
    close: () => void relay.close(),
  };
}

/** TLS records: a type, a version, a length, and so many bytes (RFC 8446 section 5.1). */
function split(bytes: Buffer): { records: Buffer[]; rest: Buffer } {
  const records: Buffer[] = [];
  let rest = bytes;
  while (rest.length >= HEADER_BYTES) {
    const end = HEADER_BYTES + rest.readUInt16BE(3);
    if (rest.length < end) break;
    records.push(rest.subarray(0, end));
    rest = rest.subarray(end);
  }
  return { records, rest };
}

function isAlert(record: Buffer): boolean {
  return (
    record[0] === ALERT || (record[0] === APPLICATION_DATA && record.length === HEADER_BYTES + ENCRYPTED_ALERT_BYTES)
  );
}
