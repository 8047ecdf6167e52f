import { describe, expect, it } from 'vitest';
import { readFurtherClaims } from '../../src/commands/token/further-claims.ts';

describe('readFurtherClaims', () => {
  it.each<[string[], string[], [string, string][]]>([
    [['a=1'], [], [['a', '"1"']]],
    [['a='], [], [['a', '""']]],
    [['a=b=c'], [], [['a', '"b=c"']]],
    [['__proto__=x'], [], [['__proto__', '"x"']]],
    [['sub=x'], [], [['sub', '"x"']]],
    [
      [],
      ['a=1', 'b={"c":[null,true]}'],
      [
        ['a', '1'],
        ['b', '{"c":[null,true]}'],
      ],
    ],
    [[], ['a= 12345678901234567890 '], [['a', '12345678901234567890']]],
    [
      ['a=1'],
      ['b="2"'],
      [
        ['a', '"1"'],
        ['b', '"2"'],
      ],
    ],
  ])('%j and %j', (strings, jsons, claims) => {
    expect(readFurtherClaims(strings, jsons, {})).toEqual(claims);
  });

  it.each<[string[], string[], RegExp]>([
    [['a'], [], /^--claim a: it must be NAME=VALUE/],
    [['=a'], [], /NAME=VALUE/],
    [[], ['a=x'], /^--claim-json a: the value is not JSON/],
    [[], ['a='], /not JSON/],
    [[], ['a={"b":1,"b":2}'], /"b" twice/],
    [['a=1', 'a=2'], [], /^--claim a: the claim is given twice/],
    [['a=1'], ['a=2'], /^--claim-json a: the claim is given twice/],
    [['iat=1'], [], /^--claim iat: the program sets it/],
    [[], ['nbf=1'], /^--claim-json nbf: the program sets it/],
    [[], ['exp=1'], /^--claim-json exp: the program sets it/],
    [['sub=x'], [], /^--claim sub: --sub sets that claim already/],
    [[], ['name=1'], /^--claim-json name: --name sets that claim already/],
  ])('refuses %j and %j', (strings, jsons, reason) => {
    expect(() => readFurtherClaims(strings, jsons, { sub: '--sub', name: '--name' })).toThrow(reason);
  });

  it('says which flag to use for a date', () => {
    expect(() => readFurtherClaims([], ['exp=1'], {})).toThrow(expect.objectContaining({ hint: 'use --lifetime' }));
  });
});
