import { expect, test } from 'vitest';
import { didYouMean, findUrl } from '../../src/spec/nearest.ts';

const KEYS = ['apiKey', 'apiKeyFile', 'baseUrl', 'jobs', 'rate', 'jwt'];

test.each`
  word             | candidate
  ${'apikey'}      | ${'apiKey'}
  ${'apiKye'}      | ${'apiKey'}
  ${'apKey'}       | ${'apiKey'}
  ${'APIKEYFILES'} | ${'apiKeyFile'}
  ${'baesUlr'}     | ${'baseUrl'}
  ${'job'}         | ${'jobs'}
  ${'jot'}         | ${'jwt'}
  ${'jo'}          | ${undefined}
  ${'xyz'}         | ${undefined}
  ${''}            | ${undefined}
  ${'--jbos'}      | ${'jobs'}
`('the word $word was probably meant to be $candidate', ({ word, candidate }) => {
  expect(didYouMean(word, KEYS)).toBe(candidate && `did you mean ${candidate}?`);
});

test.each`
  text                               | url
  ${'localhost:8080'}                | ${'http://localhost:8080'}
  ${'127.0.0.1:8080/'}               | ${'http://127.0.0.1:8080/'}
  ${'[::1]:8080'}                    | ${'http://[::1]:8080'}
  ${'api.example.com'}               | ${'https://api.example.com'}
  ${' api.example.com/v1'}           | ${'https://api.example.com/v1'}
  ${'filings:8443'}                  | ${'https://filings:8443'}
  ${'//api.example.com'}             | ${'https://api.example.com'}
  ${'http:/localhost:8080'}          | ${'http://localhost:8080'}
  ${'https//api.example.com'}        | ${'https://api.example.com'}
  ${'user:password@api.example.com'} | ${undefined}
  ${'a-key-without-dots'}            | ${undefined}
  ${`eyJh.eyJz.${'x'.repeat(43)}`}   | ${undefined}
  ${'ftp://api.example.com'}         | ${undefined}
  ${'https://api.example.com:99999'} | ${undefined}
  ${'256.1.1.1:80'}                  | ${undefined}
`('the address $text was probably meant to be $url', ({ text, url }) => expect(findUrl(text)).toBe(url));
