// Packs the project, installs the package into an empty prefix without a network, and drives it there.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const SAMPLE = ['0001234567-24-000001', 'primary.htm'];

/** Throws when the packed program does not do its main job. With `keep` the package stays in the project's folder: its path. */
export function smokeTest(keep) {
  const folder = mkdtempSync(join(tmpdir(), 'filings-smoke-'));
  try {
    const target = keep ? root : folder;
    const [{ filename }] = JSON.parse(npm(['pack', '--json', '--pack-destination', target], root));
    const prefix = join(folder, 'prefix');
    npm(['install', '--global', '--offline', '--prefix', prefix, join(target, filename)], folder);
    const filings = (...args) => execFileSync(join(prefix, 'bin', 'filings'), args, { cwd: folder, encoding: 'utf8' });
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    expect('--version', filings('--version'), `filings ${version}\n`);
    filings('--sandbox', '--quiet', 'download', ...SAMPLE);
    expect('download', readFileSync(join(folder, SAMPLE[1])), readFileSync(join(root, 'samples', ...SAMPLE)));
    return join(target, filename);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function npm(args, cwd) {
  return execFileSync('npm', args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
}

function expect(what, found, wanted) {
  if (Buffer.compare(Buffer.from(found), Buffer.from(wanted)) !== 0) throw new Error(`${what}: not what it should be`);
}

if (process.argv[1] === import.meta.filename) {
  smokeTest(false);
  process.stdout.write('the packed program works\n');
}
