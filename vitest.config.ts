import { defineConfig } from 'vitest/config';

// Generous: no test may depend on a real time span being short.
const patience = { testTimeout: 60_000, hookTimeout: 60_000 };

const floor = (name: string, more = {}) => ({
  extends: true as const,
  test: { name, include: [`test/${name}/**/*.test.ts`], ...patience, ...more },
});

// Four floors: pure tables; real sockets and files; the program in this process; the built program in its own.
export default defineConfig({
  // Much of the time is spent waiting for servers and processes: more workers than cores.
  test: {
    maxWorkers: 4,
    projects: [
      floor('unit'),
      floor('service'),
      floor('program'),
      floor('cli', { globalSetup: 'test/cli/build.setup.ts' }),
      floor('prove', { globalSetup: 'test/cli/build.setup.ts' }),
    ],
  },
});
