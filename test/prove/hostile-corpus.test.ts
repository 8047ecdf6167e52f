import { expect, test } from 'vitest';
import { CORPUS, OVER_TLS } from '../hostile/corpus.ts';
import { type Judgement, outcomeOf } from '../hostile/judge.ts';
import { judged } from '../hostile/search.ts';

test('what the comparison with curl has found before', async () => {
  const judgements = await judged(
    CORPUS.map(([, , exchange]) => exchange),
    'plain',
  );
  const now = CORPUS.map(([was, , exchange], index) => [was, outcomeOf(judgements[index] as Judgement), exchange]);
  expect(now).toEqual(CORPUS);
});

test.each(['TLSv1.2', 'TLSv1.3'] as const)('over %s its end proves no body', async (version) => {
  const judgements = await judged(
    OVER_TLS.map(([, exchange]) => exchange),
    version,
  );
  expect(judgements.map(({ kind }, index) => [kind, OVER_TLS[index]?.[1]])).toEqual(OVER_TLS);
});
