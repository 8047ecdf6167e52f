import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

// Generous: no test may depend on a real time span being short.
const patience = { testTimeout: 180_000, hookTimeout: 180_000 };

const floor = (name: string, more = {}) => ({
  extends: true as const,
  test: { name, include: [`test/${name}/**/*.test.ts`], ...patience, ...more },
});

// Our modules have no state of their own: test files of one worker share them, and load them once.
// Nor does anything depend on the machine's time zone: what HTTP says is UTC.
const shared = { isolate: false, env: { TZ: 'Pacific/Chatham' } };
// Node reads it as a worker starts.
const TRUSTED = join(import.meta.dirname, 'test/fixtures/tls/trusted.pem');
// The built program is built before its tests.
const build = { globalSetup: 'test/cli/build.setup.ts' };

// Those that run more rounds and rows where a test asks for `proving`.
const ROUNDS = 'disk-faults,kill,pipes,signals,two-runs';

/** These take minutes: begun last, each would run on alone while the other workers have nothing left to do. */
const LONG = /\/prove\/(million|package|power-cut\/trace)\.test\.ts$/;

class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const usual = await super.sort(files);
    const isLong = ({ moduleId }: TestSpecification) => LONG.test(moduleId);
    return [...usual.filter(isLong), ...usual.filter((file) => !isLong(file))];
  }
}

// Four floors: pure tables; real sockets and files; the program in this process; the built program in its own. Behind
// them what is too slow for every change (npm run prove): rare disks, long waits, and all rounds of kills and races.
export default defineConfig({
  // Much of the time is spent waiting for servers and processes: more workers than cores.
  test: {
    maxWorkers: 4,
    reporters: ['minimal'],
    sequence: { sequencer: LongFirst },
    projects: [
      floor('unit', shared),
      floor('service', shared),
      floor('program', { ...shared, env: { ...shared.env, NODE_EXTRA_CA_CERTS: TRUSTED } }),
      floor('cli', { ...build, isolate: false }),
      floor('prove', {
        ...build,
        include: [
          'test/prove/**/*.test.ts',
          'scripts/picture/picture.test.ts',
          `test/cli/{${ROUNDS}}.test.ts`,
          'test/service/{checksums,jwt-keys}.test.ts',
        ],
        env: { FILINGS_PROVE: '1' },
        testTimeout: 600_000,
      }),
    ],
  },
});
