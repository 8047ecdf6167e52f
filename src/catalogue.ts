import type { ArgumentSpec, CommandSpec } from './commands/command-spec.ts';
import { type OptionSpec, SETTINGS } from './settings/options.ts';

const JSON_OUTPUT: OptionSpec = { flag: 'json', help: 'JSON for programs' };

const LIST: CommandSpec = {
  name: 'list',
  summary: 'list the file names of a filing',
  arguments: [{ name: 'ACCESSION', variadic: true, help: 'accession numbers, such as 0001234567-24-000001' }],
  options: [
    { flag: 'input', short: 'i', value: 'FILE', completes: 'file', help: 'accession numbers, one a line; - is stdin' },
    { flag: 'include', value: 'GLOB', repeatable: true, help: 'only names that match' },
    { flag: 'exclude', value: 'GLOB', repeatable: true, help: 'no names that match' },
    { flag: 'long', short: 'l', help: 'a table with size, type and description, as on a terminal' },
    { flag: 'json', help: 'JSON Lines, one object a file' },
    { flag: 'null', short: '0', help: 'end each record with NUL instead of a line break' },
    { flag: 'query', value: 'NAME=VALUE', repeatable: true, help: 'a further parameter of the request' },
  ],
  examples: [
    ['filings list 0001234567-24-000001', 'one name a line'],
    ["filings list 0001234567-24-000001 --include 'ex*' --json", 'the exhibits, as JSON Lines'],
  ],
  load: () => import('./commands/list.ts'),
};

const DOWNLOAD: CommandSpec = {
  name: 'download',
  summary: 'download files of a filing, to disk or to stdout',
  arguments: [
    { name: 'ACCESSION', required: true, help: 'the accession number, such as 0001234567-24-000001' },
    { name: 'FILE', variadic: true, help: 'names of files within the filing' },
  ],
  options: [
    { flag: 'output', short: 'o', value: 'PATH', completes: 'file', help: 'where one file goes; - is stdout' },
    { flag: 'directory', short: 'd', value: 'DIR', completes: 'directory', help: 'where files go; made if missing' },
    {
      flag: 'if-exists',
      value: 'WHAT',
      choices: ['skip', 'overwrite', 'error'],
      help: 'what to do about a file that is there already: skip (overwrite with -o) unless told otherwise',
    },
    { flag: 'sha256', value: 'HEX', help: 'what one file must hash to' },
    { flag: 'spool', help: 'with -o -: fetch and check all of it first, then write' },
    { flag: 'report', value: 'FILE', completes: 'file', help: 'JSON Lines, one object a file; - is stdout' },
  ],
  examples: [
    ['filings download 0001234567-24-000001 primary.htm', 'one file, into the working directory'],
    ['filings download 0001234567-24-000001 primary.htm -o - | wc -c', 'one file, into a pipe'],
  ],
  load: () => import('./commands/download.ts'),
};

const KEY: OptionSpec = { flag: 'key', value: 'FILE', completes: 'file', help: 'a PEM or JWK key; - is stdin' };
const SECRET: OptionSpec = {
  flag: 'secret-file',
  value: 'FILE',
  completes: 'file',
  help: 'an HMAC secret, raw bytes; - is stdin',
};
const PASSPHRASE: OptionSpec = {
  flag: 'passphrase-file',
  value: 'FILE',
  completes: 'file',
  help: 'the passphrase of an encrypted key',
};
const TOKEN_ARGUMENT: ArgumentSpec = { name: 'TOKEN', help: 'the token; - or nothing: stdin' };

const TOKEN: CommandSpec = {
  name: 'token',
  summary: 'mint, read and check JWTs',
  defaultChild: 'sign',
  children: [
    {
      name: 'sign',
      summary: 'mint a JWT and print it',
      options: [
        { flag: 'alg', value: 'ALG', help: 'the signature algorithm, such as RS256; follows the key unless told' },
        KEY,
        SECRET,
        PASSPHRASE,
        { flag: 'kid', value: 'ID', help: "the key's identifier, in the header" },
        { flag: 'sub', value: 'TEXT', help: 'the subject claim' },
        { flag: 'name', value: 'TEXT', help: 'the name claim' },
        { flag: 'lifetime', value: 'DURATION', help: 'how long it is valid; 5m unless told' },
        { flag: 'not-before', value: 'WHEN', help: 'when it begins to be valid: a time, or a duration from now' },
        { flag: 'claim', value: 'NAME=VALUE', repeatable: true, help: 'a further claim, as a string' },
        { flag: 'claim-json', value: 'NAME=JSON', repeatable: true, help: 'a further claim, as JSON' },
        { flag: 'header', help: 'print a whole Authorization header' },
        JSON_OUTPUT,
      ],
      examples: [
        ['filings token sign --key private.pem --sub alice', 'a token for five minutes'],
        ['curl -H "$(filings token --header)" URL', "with what the config file's jwt says"],
      ],
      load: () => import('./commands/token-sign.ts'),
    },
    {
      name: 'inspect',
      summary: 'show what a JWT says, without checking it',
      arguments: [TOKEN_ARGUMENT],
      options: [JSON_OUTPUT],
      examples: [
        ['filings token sign | filings token inspect', 'what a minted token says'],
        ['filings token inspect --json < token.txt | jq .objections', 'what the service would object to'],
      ],
      load: () => import('./commands/token-inspect.ts'),
    },
    {
      name: 'verify',
      summary: 'check a JWT as strictly as the service should',
      arguments: [TOKEN_ARGUMENT],
      options: [
        KEY,
        SECRET,
        PASSPHRASE,
        {
          flag: 'alg',
          value: 'ALG',
          repeatable: true,
          help: 'an allowed algorithm; those that fit the key unless told',
        },
        { flag: 'leeway', value: 'DURATION', help: 'how far clocks may differ; 0s unless told' },
        { flag: 'at', value: 'TIME', help: 'the time to check against, instead of now' },
        JSON_OUTPUT,
      ],
      examples: [
        ['filings token verify --key public.pem < token.txt', 'its claims, or why not'],
        ['filings token verify "$TOKEN" --secret-file secret --leeway 30s --json', 'one JSON object either way'],
      ],
      load: () => import('./commands/token-verify.ts'),
    },
    {
      name: 'keygen',
      summary: 'make a key or a secret for JWTs',
      options: [
        { flag: 'alg', value: 'ALG', help: 'the algorithm it is for' },
        { flag: 'out', value: 'FILE', completes: 'file', help: 'where the private key goes; never overwritten' },
        { flag: 'public', value: 'FILE', completes: 'file', help: 'where the public key goes' },
        { flag: 'format', value: 'FORMAT', choices: ['pem', 'jwk'], help: 'pem unless told' },
        { flag: 'kid', value: 'ID', help: "the key's identifier" },
      ],
      examples: [
        ['filings token keygen --alg ES256 --out private.pem --public public.pem', 'a key pair'],
        ['filings token keygen --alg HS256 --out secret', 'a shared secret'],
      ],
      load: () => import('./commands/token-keygen.ts'),
    },
  ],
};

const SERVE: CommandSpec = {
  name: 'serve',
  summary: 'run a local stand-in for the service',
  arguments: [
    {
      name: 'DIRECTORY',
      completes: 'directory',
      help: 'files laid out as DIRECTORY/ACCESSION/FILE; the sample filings unless told',
    },
  ],
  options: [
    { flag: 'host', value: 'ADDRESS', help: '127.0.0.1 unless told; beyond loopback it wants a key of your own' },
    { flag: 'port', value: 'PORT', help: '8787 unless told; 0 takes a free one' },
    { flag: 'jwt-key', value: 'PUBLIC', repeatable: true, completes: 'file', help: 'a public key: wants JWTs too' },
    { flag: 'jwt-secret', value: 'FILE', completes: 'file', help: 'an HMAC secret: wants JWTs too' },
    { flag: 'latency', value: 'MS', help: 'delays each answer' },
    { flag: 'rate-limit', value: 'N/s|N/m', help: 'answers 429 above that' },
  ],
  examples: [['filings serve --port 0', 'the sample filings on a free port']],
  load: () => import('./commands/serve.ts'),
};

const SETTING: ArgumentSpec = {
  name: 'KEY',
  required: true,
  suggests: SETTINGS.filter((spec) => spec.inFile).map((spec) => spec.key),
  help: "a setting's name: 'filings help config' shows them all",
};

const CONFIG: CommandSpec = {
  name: 'config',
  summary: 'show and change settings',
  children: [
    {
      name: 'list',
      summary: 'show each setting with where it comes from',
      options: [{ flag: 'json', help: 'JSON Lines, one object a setting' }],
      load: () => import('./commands/config-list.ts'),
    },
    {
      name: 'get',
      summary: 'show one setting, wherever it comes from',
      arguments: [SETTING],
      load: () => import('./commands/config-get.ts'),
    },
    {
      name: 'set',
      summary: 'write a setting into the config file, or into the profile that --profile names',
      arguments: [SETTING, { name: 'VALUE', help: 'its value; a secret is asked for, or read from stdin' }],
      examples: [
        ['filings config set base-url https://api.example.com', 'where the service is'],
        ['filings config set api-key', 'asks for the key without showing it'],
      ],
      load: () => import('./commands/config-set.ts'),
    },
    {
      name: 'unset',
      summary: 'take a setting out of the config file, or out of the profile that --profile names',
      arguments: [SETTING],
      load: () => import('./commands/config-unset.ts'),
    },
    {
      name: 'path',
      summary: 'print where the config file is',
      load: () => import('./commands/config-path.ts'),
    },
    {
      name: 'check',
      summary: 'ask the service once, and tell whether address, certificate, key, token and clock are right',
      arguments: [{ name: 'ACCESSION', help: 'the filing to ask for; one that does not exist unless told' }],
      load: () => import('./commands/config-check.ts'),
    },
  ],
};

const COMPLETION: CommandSpec = {
  name: 'completion',
  summary: "print a shell's completions",
  arguments: [{ name: 'SHELL', required: true, choices: ['bash', 'zsh', 'fish'], help: 'bash, zsh or fish' }],
  examples: [
    ['source <(filings completion bash)', 'for this shell; put it into ~/.bashrc for all'],
    ['filings completion fish > ~/.config/fish/completions/filings.fish', 'for fish'],
  ],
  load: async () => (await import('./commands/completion.ts')).completion(COMMANDS),
};

/** What `filings help` tells about besides the commands. */
export const TOPICS = ['exit-codes', 'environment', 'config'] as const;

function helpAbout(commands: readonly CommandSpec[]): CommandSpec {
  return {
    name: 'help',
    summary: 'tell about a command, or about exit-codes, environment or config',
    arguments: [
      {
        name: 'TOPIC',
        variadic: true,
        suggests: [...new Set([...commands.map(({ name }) => name), ...TOPICS])],
        help: 'a command, exit-codes, environment or config',
      },
    ],
    examples: [
      ['filings help token sign', 'about one command'],
      ['filings help exit-codes', 'what a script can tell from the exit status'],
    ],
    load: async () => (await import('./commands/help.ts')).help(COMMANDS),
  };
}

const WORKING: readonly CommandSpec[] = [LIST, DOWNLOAD, TOKEN, SERVE, CONFIG, COMPLETION];

/** Every command, in the order in which help shows them. */
export const COMMANDS: readonly CommandSpec[] = [...WORKING, helpAbout(WORKING)];
