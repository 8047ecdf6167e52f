import { defineConfig } from 'vitest/config';

// The configuration for Stryker (CONTRIBUTING.md). It has only the tests of pure decisions, which are fast enough to
// run once per mutant.
export default defineConfig({
  test: {
    include: [
      'test/unit/{accession,file-name,listing,name-check,pages,redirect,resume,retry,selection,settings-layers,verdict}.test.ts',
    ],
  },
});
