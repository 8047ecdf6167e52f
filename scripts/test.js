// npm test: builds the program, then runs every check and the tests at the same time. A check that passes prints
// nothing.
import { spawn } from 'node:child_process';
import { once } from 'node:events';

const CHECKS = ['check:lint', 'check:types', 'check:generated', 'check:layers', 'check:docs'];

/** Runs a script of package.json and prints its output if it fails. Returns its exit status. */
async function quietly(script) {
  const child = spawn('npm', ['run', '--silent', script], { stdio: ['ignore', 'pipe', 'pipe'] });
  const output = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => output.push(chunk));
  const [status] = await once(child, 'close');
  if (status !== 0) process.stderr.write(`npm run ${script} failed\n${Buffer.concat(output)}`);
  return status;
}

async function tests() {
  const [status] = await once(spawn('npm', ['run', '--silent', 'test:all'], { stdio: 'inherit' }), 'close');
  return status;
}

const isBuilt = (await quietly('build')) === 0;
const statuses = isBuilt ? await Promise.all([tests(), ...CHECKS.map(quietly)]) : [1];
process.exitCode = statuses.some((status) => status !== 0) ? 1 : 0;
