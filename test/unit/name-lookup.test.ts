import { expect, test } from 'vitest';
import { addressesIn } from '../../src/http/connection/name-lookup.ts';

test.each([
  ['192.0.2.1       STREAM api.example.com\n192.0.2.1       DGRAM  \n192.0.2.1       RAW    \n', ['192.0.2.1 4']],
  ['2001:db8::1 STREAM a\n2001:db8::1 DGRAM\n192.0.2.7 STREAM a\n', ['2001:db8::1 6', '192.0.2.7 4']],
  ['fe80::1%eth0 STREAM a\n', ['fe80::1%eth0 6']],
  ['', []],
  ['getent: no such thing\n', []],
])('the addresses in %j, in their order and once each', (text, addresses) => {
  expect(addressesIn(text).map(({ address, family }) => `${address} ${family}`)).toEqual(addresses);
});
