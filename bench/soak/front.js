// A proxy in front of the servers. It sets the pace, sends the files of a filing to one server, and causes faults by a
// seed.
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { Agent, createServer, get } from 'node:http';
import { pipeline } from 'node:stream/promises';

/** Number of requests in a thousand that end with each fault. */
const FAULTS = { cutHead: 8, cutBody: 12, stall: 4, 503: 6, 429: 2 };
const STALL_MS = 2500;

/**
 * Starts the proxy. The first of `servers` lists; files come from all, those of a filing from one. `everyMs` is the
 * time between two responses, or 0 for no limit. The same `seed` causes the same faults.
 */
export async function startFront({ servers, everyMs, seed }) {
  const agent = new Agent({ keepAlive: true, maxSockets: 64 });
  const tries = new Map();
  const counted = { answers: 0, faults: {} };
  const started = performance.now();
  let slots = 0;
  const answer = async (request, response) => {
    const { searchParams } = new URL(request.url, 'http://front');
    const filing = searchParams.get('accession_no') ?? '';
    const isFile = searchParams.has('file_name');
    slots += 1;
    await after(started + slots * everyMs - performance.now());
    const fault = faultOf(drawn(request.url), isFile);
    counted.answers += 1;
    if (fault !== undefined) counted.faults[fault] = (counted.faults[fault] ?? 0) + 1;
    if (fault === 'cutHead') return response.destroy();
    if (fault === '503' || fault === '429') {
      return response.writeHead(Number(fault), { 'Retry-After': '1', 'Content-Length': 0 }).end();
    }
    const server = servers[isFile ? Number(filing.at(-1)) % servers.length : 0];
    await forward(`${server}${request.url}`, request, { response, fault, agent });
  };
  /** A number below 1000, which is the same for the same try of the same URL, regardless of other requests. */
  const drawn = (url) => {
    const before = tries.get(url) ?? 0;
    tries.set(url, before + 1);
    // A complete file is not requested again, so that only recent URLs must be remembered.
    if (tries.size > 5000) tries.delete(tries.keys().next().value);
    return createHash('sha256').update(`${seed} ${url} ${before}`).digest().readUInt32BE(0) % 1000;
  };
  const front = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  front.listen(0, '127.0.0.1');
  await once(front, 'listening');
  return {
    url: `http://127.0.0.1:${front.address().port}`,
    counted,
    async stop() {
      agent.destroy();
      front.closeAllConnections();
      front.close();
      await once(front, 'close');
    },
  };
}

function faultOf(draw, isFile) {
  let bound = 0;
  for (const [fault, share] of Object.entries(FAULTS)) {
    bound += share;
    if (draw < bound) return isFile || fault.length === 3 ? fault : undefined;
  }
}

async function forward(url, request, { response, fault, agent }) {
  const asked = get(url, { agent, headers: { ...request.headers, host: new URL(url).host, connection: 'keep-alive' } });
  // An error may follow the response. Its reader sees the error, too.
  asked.on('error', () => {});
  const [answered] = await once(asked, 'response');
  const { connection: _ours, 'keep-alive': _too, ...fields } = answered.headers;
  response.writeHead(answered.statusCode, fields);
  if (fault === undefined) return pipeline(answered, response);
  const bytes = Buffer.concat(await answered.toArray());
  response.write(bytes.subarray(0, bytes.length / 2));
  if (fault === 'stall') {
    await after(STALL_MS);
    response.end(bytes.subarray(bytes.length / 2));
  } else {
    // Waits until the half is sent.
    await new Promise((resolve) => response.write('', resolve));
    response.socket?.end();
  }
}

const after = (ms) => (ms > 0 ? new Promise((resolve) => setTimeout(resolve, ms)) : undefined);
