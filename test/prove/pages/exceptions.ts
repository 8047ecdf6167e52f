const INSTALLS = 'installs';

const ENGINE = 'needs the engine: test/prove/recipes runs the script itself';
const CLOUD = "goes to a cluster of one's own";

type ByFirstLine<T> = Readonly<Record<string, T>>;

/** Blocks that no test runs as they are written, by page and first line, and why. */
export const NOT_RUN: Readonly<Record<string, ByFirstLine<string>>> = {
  'README.md': {
    'npm ci && node bin/filings.js --sandbox download 0001234567-24-000001 primary.htm': INSTALLS,
    'npm ci && npm test': INSTALLS,
    'npm ci && npm pack': INSTALLS,
  },
  'docs/scaling.md': {
    "sbatch docs/recipes/slurm/mirror.sbatch accessions.txt /shared/mirror --include 'ex*' --checksums --rate 2/s":
      ENGINE,
    "HOSTS=n1,n2 docs/recipes/parallel/mirror.sh /shared/mirror --include 'ex*' < accessions.txt": ENGINE,
    'completionMode: Indexed': CLOUD,
  },
};

/** Blocks that end with another status than 0, since what they show is a failure. */
export const ENDS_WITH: Readonly<Record<string, ByFirstLine<number>>> = {
  'docs/using.md': {
    // Its second command shows the error of a file that is not there.
    'filings download 0001234567-24-000001 primary.htm --report - --quiet | jq -r \'select(.result == "failed") | .error.code\'': 5,
  },
};
