import { describe } from 'vitest';
import { testPage } from './page.ts';

describe('README.md', () => testPage('README.md'));
