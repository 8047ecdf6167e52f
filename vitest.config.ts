import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { SkippedReporter } from './test/skipped.ts';

// The limits are generous, because no test may depend on a short real time.
const limits = { testTimeout: 180_000, hookTimeout: 180_000, expect: { poll: { timeout: 60_000, interval: 10 } } };

const project = (name: string, more = {}) => ({
  extends: true as const,
  test: { name, include: [`test/${name}/**/*.test.ts`], ...limits, ...more },
});

// The modules have no state of their own, so that the test files of a worker can share them. The time zone is odd, so
// that a dependence on it would show.
const shared = { isolate: false, env: { TZ: 'Pacific/Chatham' } };
// Node reads this file when a worker starts.
const TRUSTED = join(import.meta.dirname, 'test/fixtures/tls/trusted.pem');
// Builds the program before its tests.
const build = { globalSetup: 'test/cli/build.setup.ts' };

// Test files that run more rounds and rows if `proving` is true.
const ROUNDS = [
  'test/cli/{disk-faults,record-states,two-runs}.test.ts',
  'test/program/dry-run.test.ts',
  'test/service/{disk,input,jwt-keys,stories}.test.ts',
  'test/unit/{body,checksums,file-name,glob,json,jwt,printable,problem,secrets}.test.ts',
];

/** These files take minutes. They start first, so that no worker ends long after the others. */
const LONG = /\/prove\/(million|package|power-cut\/trace)\.test\.ts$/;

class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const usual = await super.sort(files);
    const isLong = ({ moduleId }: TestSpecification) => LONG.test(moduleId);
    return [...usual.filter(isLong), ...usual.filter((file) => !isLong(file))];
  }
}

// Four projects: unit for pure decisions, service for real sockets and files, program for runs in this process, and cli
// for the built program. The fifth, prove, has tests that are too slow for every change: rare disks, long waits, and all
// rounds of kills and races.
export default defineConfig({
  // Tests mostly wait for servers and processes, so there are more workers than cores.
  test: {
    maxWorkers: 4,
    reporters: ['minimal', new SkippedReporter()],
    sequence: { sequencer: LongFirst },
    projects: [
      project('unit', shared),
      project('service', shared),
      project('program', { ...shared, env: { ...shared.env, NODE_EXTRA_CA_CERTS: TRUSTED } }),
      project('cli', { ...build, isolate: false }),
      project('prove', {
        ...build,
        include: ['test/prove/**/*.test.ts', 'scripts/picture.test.ts', ...ROUNDS],
        env: { FILINGS_PROVE: '1' },
        testTimeout: 600_000,
      }),
    ],
  },
});
