import { defineConfig } from 'vitest/config';

// For Stryker (CONTRIBUTING.md): the tables alone, which are quick enough to be run once for each change of the code.
export default defineConfig({
  test: {
    include: [
      'test/unit/{resume,verdict,stop-rule,framing,retry,redirect,file-name}.test.ts',
      'test/unit/{checksums-line,name-table}.test.ts',
      'test/unit/jwt.test.ts',
    ],
  },
});
