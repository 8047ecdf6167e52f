import type { Reporter, TestModule } from 'vitest/node';

/**
 * Prints the skipped tests in the last lines of a run, because nothing else shows them. In CI, where everything is to be
 * tested, a skipped test fails the run. Tests that a filter excludes do not count.
 */
export class SkippedReporter implements Reporter {
  #isFiltered = false;

  onInit({ config }: Parameters<NonNullable<Reporter['onInit']>>[0]): void {
    this.#isFiltered = config.testNamePattern !== undefined;
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    if (this.#isFiltered) return;
    const skipped = modules.flatMap(({ children, relativeModuleId }) =>
      [...children.allTests('skipped')].map(({ fullName }) => `${relativeModuleId}: ${fullName}`),
    );
    if (skipped.length === 0) return;
    // Prints after the summary of vitest's own reporter.
    process.once('exit', () => {
      process.stdout.write(`${skipped.length} skipped:\n${skipped.map((name) => `  ${name}\n`).join('')}`);
      if (process.env.CI) process.exitCode ||= 1;
    });
  }
}
