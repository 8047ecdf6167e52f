// What stands before the servers: it sets the pace, sends each filing's files to one of them, and misbehaves by a seed.
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { Agent, createServer, get } from 'node:http';
import { pipeline } from 'node:stream/promises';

/** Of a thousand tries, so many end in each way. */
const FAULTS = { cutHead: 8, cutBody: 12, stall: 4, 503: 6, 429: 2 };
const STALL_MS = 2500;

/**
 * `servers`: the first one lists, and files come from all, a filing's from one. `everyMs`: an answer's share of the time;
 * 0 as fast as they come. `seed`: the same one misbehaves alike.
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
  /** In [0, 1000): the same for the same try of the same thing, whatever else goes on. */
  const drawn = (url) => {
    const before = tries.get(url) ?? 0;
    tries.set(url, before + 1);
    // What has been whole is not asked for again: only repeats are remembered for long.
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
  // Behind its answer, too: whoever reads that hears of it.
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
    // Once the half is on its way.
    await new Promise((resolve) => response.write('', resolve));
    response.socket?.end();
  }
}

const after = (ms) => (ms > 0 ? new Promise((resolve) => setTimeout(resolve, ms)) : undefined);
