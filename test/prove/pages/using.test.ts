import { describe } from 'vitest';
import { testPage } from './page.ts';

describe('docs/using.md', () => testPage('docs/using.md'));
