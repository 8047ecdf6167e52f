import { defineConfig } from 'vitest/config';

// For Stryker (CONTRIBUTING.md): the tables of decisions alone, quick enough to be run once for each change of the code.
export default defineConfig({
  test: {
    include: [
      'test/unit/{accession,file-name,listing,name-check,pages,redirect,resume,retry,selection,settings-layers,verdict}.test.ts',
    ],
  },
});
