// Turns the advice of errors into hints that name options. The floors below know no options, so they give only the key
// of an advice.
import type { Advice, FilingsError, Hint } from '../errors.ts';
import { inSeconds } from '../text.ts';

/** Advice without data. */
type PlainAdvice = Exclude<Advice, { readonly advice: 'check-key' | 'wait' }>['advice'];

/** The hint of each advice. */
export const HINTS: Readonly<Record<PlainAdvice, string>> = {
  'allow-connecting': 'check the network, or allow more with --connect-timeout',
  'allow-idling': 'run it again later, or allow more with --idle-timeout',
  'check-hash': 'it is not the file that --sha256 means: check both',
  'claim-options': 'see --sub, --name, --not-before and --lifetime; iat is always set',
  'fewer-jobs': 'lower --jobs, or raise the limit (ulimit -n)',
  'fewer-requests': 'wait, then run it again with fewer requests: --rate 1/s, --jobs 1',
  forbidden: 'the key may not be allowed this; if the service limits requests, wait and add --rate 1/s',
  'keep-or-replace': '--if-exists skip keeps it, --if-exists overwrite replaces it',
  'key-in-header': 'send the key in a header, which no address copies: --key-in header',
  'layout-by-filing': 'use a --layout with {accession_no}',
  'other-directory': 'remove it, or choose another directory with --directory',
  'other-name': 'choose another place, or another name: -o PATH',
  'other-place': 'move it away, or choose another place with --output or --directory',
  'other-place-or-replace': 'choose another place with -o, --layout or -d, or replace it with --if-exists overwrite',
  'passphrase-file': 'name the file of its passphrase with --passphrase-file',
  'prove-by-hash': 'the service should send a length or chunks: tell whoever runs it; --sha256 proves a file',
  'read-pages': 'read all its pages: --page-size 100',
  'report-defect': 'please report it; --verbose shows where it happened',
  'secret-file': 'a secret is given with --secret-file',
  spool: 'part of it was written already; --spool writes all or nothing',
};

/** Returns the hint of an error and its retry command as one text, or undefined if the error has neither. */
export function hintOf({ hint, retryCommand }: Pick<FilingsError, 'hint' | 'retryCommand'>): string | undefined {
  const advice = hint === undefined ? [] : [textOfHint(hint)];
  const retry = retryCommand === undefined ? [] : [`to retry the failed files: ${retryCommand}`];
  const sentences = [...advice, ...retry];
  return sentences.length === 0 ? undefined : sentences.join('; ');
}

function textOfHint(hint: Hint): string {
  if (typeof hint === 'string') return hint;
  switch (hint.advice) {
    case 'check-key': {
      const check = `check the API key from ${hint.source}, how it is sent (--key-in), and whether it wants a JWT too`;
      return hint.command === undefined ? check : `${check}: ${hint.command}`;
    }
    case 'wait': {
      const fewer = hint.isRateLimited ? ', with fewer requests: --rate 1/s' : '';
      return `longer than --max-retry-after (${inSeconds(hint.longestMs)}): run it again after that time${fewer}`;
    }
    default:
      return HINTS[hint.advice];
  }
}
