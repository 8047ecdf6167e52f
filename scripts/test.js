// npm test: the build, then every check and the tests at the same time. A check that passes says nothing.
import { spawn } from 'node:child_process';
import { once } from 'node:events';

const CHECKS = ['check:lint', 'check:types', 'check:generated', 'check:floors', 'check:docs'];

/** Runs a script of package.json, and tells what it said where it failed; gives its exit status. */
async function quietly(script) {
  const child = spawn('npm', ['run', '--silent', script], { stdio: ['ignore', 'pipe', 'pipe'] });
  const said = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => said.push(chunk));
  const [status] = await once(child, 'close');
  if (status !== 0) process.stderr.write(`npm run ${script} failed\n${Buffer.concat(said)}`);
  return status;
}

async function tests() {
  const [status] = await once(spawn('npm', ['run', '--silent', 'test:all'], { stdio: 'inherit' }), 'close');
  return status;
}

const isBuilt = (await quietly('build')) === 0;
const statuses = isBuilt ? await Promise.all([tests(), ...CHECKS.map(quietly)]) : [1];
process.exitCode = statuses.some((status) => status !== 0) ? 1 : 0;
