import { describe } from 'vitest';
import { testPage } from './page.ts';

describe('docs/using.md', () => testPage('docs/using.md'));

describe('docs/using.md with FILINGS_SANDBOX=1 and without blocks that use --base-url', () =>
  testPage('docs/using.md', { FILINGS_SANDBOX: '1' }, ({ text }) => !text.includes('--base-url')));
