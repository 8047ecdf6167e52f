import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/json.ts';
import { type Clock, claimFaults, LATEST_SECOND } from '../../src/jwt/claims.ts';

const NOW = 1_800_000_000;
const NOW_TEXT = '2027-01-15T08:00:00Z';
const good = { nbf: NOW - 60, exp: NOW + 60 };
const faults = (claims: JsonObject, clock: Partial<Clock> = {}) => claimFaults(claims, { atSeconds: NOW, ...clock });
const reasons = (claims: JsonObject) => faults(claims).map(({ reason }) => reason);

describe('a date that is none', () => {
  it.each<[JsonObject, string[]]>([
    [{}, ['nbf is missing, and the service requires it', 'exp is missing, and the service requires it']],
    [{ nbf: NOW }, ['exp is missing, and the service requires it']],
    [{ exp: NOW + 1 }, ['nbf is missing, and the service requires it']],
    [{ ...good, iat: null }, ['iat is not a number of seconds since the epoch']],
    [{ ...good, iat: '1800000000' }, ['iat is not a number of seconds since the epoch']],
    [{ ...good, exp: '7' }, ['exp is not a number of seconds since the epoch']],
    [{ ...good, exp: '' }, ['exp is not a number of seconds since the epoch']],
    [{ ...good, exp: 'x7' }, ['exp is not a number of seconds since the epoch']],
    [{ ...good, exp: '7x' }, ['exp is not a number of seconds since the epoch']],
    [{ ...good, exp: [7] }, ['exp is not a number of seconds since the epoch']],
    [{ ...good, nbf: Number.POSITIVE_INFINITY }, ['nbf is a number beyond all dates']],
    [{ ...good, nbf: Number.NEGATIVE_INFINITY }, ['nbf is a number beyond all dates']],
    [{ ...good, nbf: 1.5 }, ['nbf is a fraction, not whole seconds']],
    [{ ...good, nbf: -1 }, ['nbf is before 1970']],
    [{ ...good, exp: LATEST_SECOND + 1 }, ['exp is after the year 9999']],
    [
      { nbf: 'x', exp: -1, iat: 0.5 },
      ['nbf is not a number of seconds since the epoch', 'exp is before 1970', 'iat is a fraction, not whole seconds'],
    ],
  ])('%j', (claims, expected) => {
    expect(reasons(claims)).toEqual(expected);
  });

  it.each<[JsonObject]>([
    [good],
    [{ ...good, iat: 0 }],
    [{ ...good, iat: NOW + 999 }],
    [{ ...good, iat: LATEST_SECOND }],
    [{ nbf: 0, exp: LATEST_SECOND }],
  ])('but not %j', (claims) => {
    expect(reasons(claims)).toEqual([]);
  });
});

describe('now', () => {
  it('is told with the date that it is held against', () => {
    expect(faults({ nbf: NOW + 31, exp: NOW + 99 }, { leewaySeconds: 30 })).toEqual([
      {
        reason: 'nbf is 31 s in the future: is a clock wrong?',
        hint: `the time it is checked against is ${NOW_TEXT}; nbf is 2027-01-15T08:00:31Z`,
      },
    ]);
    expect(faults({ nbf: NOW - 9, exp: NOW })).toEqual([
      {
        reason: 'expired this very second: exp is now',
        hint: `the time it is checked against is ${NOW_TEXT}; exp is ${NOW_TEXT}`,
      },
    ]);
  });

  it('is within nbf <= now < exp, give or take the leeway, or it is said', () => {
    const near = [-3, -2, -1, 0, 1, 2, 3];
    const cases = near.flatMap((before) =>
      near.flatMap((after) =>
        [0, 1, 2].flatMap((leewaySeconds) => [0, 0.5].map((within) => ({ before, after, leewaySeconds, within }))),
      ),
    );
    const judged = cases.map(({ before, after, leewaySeconds, within }) => {
      const [nbf, exp, atSeconds] = [NOW + before, NOW + after, NOW + within];
      const sound = nbf < exp && nbf - leewaySeconds <= atSeconds && atSeconds < exp + leewaySeconds;
      expect(claimFaults({ nbf, exp }, { atSeconds, leewaySeconds })).toHaveLength(sound ? 0 : 1);
      return sound;
    });
    expect(new Set(judged)).toEqual(new Set([true, false]));
  });
});
