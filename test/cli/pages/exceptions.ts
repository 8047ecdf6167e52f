const INSTALLS = 'installs';
const OWN_SERVICE = 'asks for a service and a key of your own';
const FIXED_PORT = 'takes a port that somebody may have: test/cli/serve.test.ts does it at a free one';

type ByFirstLine<T> = Readonly<Record<string, T>>;

/** Blocks that no test runs as they are written, by page and first line, and why. */
export const NOT_RUN: Readonly<Record<string, ByFirstLine<string>>> = {
  'README.md': {
    'npm ci && node bin/filings.js --sandbox download 0001234567-24-000001 primary.htm': INSTALLS,
    'npm ci && npm test': INSTALLS,
    'npm ci && npm link': INSTALLS,
    'filings config set base-url https://api.example.com': OWN_SERVICE,
    'filings list 0001234567-24-000001 --base-url https://api.example.com --api-key-file ~/.filings-key': OWN_SERVICE,
    'filings serve --port 8787 --api-key sandbox-key &': FIXED_PORT,
  },
  'docs/mutants.md': {
    'npm install --no-save @stryker-mutator/core@9.6.1 @stryker-mutator/vitest-runner@9.6.1': INSTALLS,
  },
};

/** Blocks that end with another status than 0, since what they show is a failure. */
export const ENDS_WITH: Readonly<Record<string, ByFirstLine<number>>> = {
  'README.md': {
    // Its second command shows the error of a file that is not there.
    'filings download 0001234567-24-000001 primary.htm --report - --quiet | jq -r \'select(.result == "failed") | .error.code\'': 5,
  },
};
