import { expect, test } from 'vitest';
import { addCredentials } from '../../src/service/credentials.ts';

const KEY = 'a key/+';
const AT = 'https://h.example/v1/download';
const BEARER = { authorization: 'Bearer t.o.k' };

// With a token in Authorization there is no room for the key.
test.each`
  keyIn       | from                            | url                                  | headers             | withToken
  ${'header'} | ${AT}                           | ${AT}                                | ${{ 'X-Key': KEY }} | ${{ 'X-Key': KEY, ...BEARER }}
  ${'query'}  | ${AT}                           | ${`${AT}?apikey=a%20key%2F%2B`}      | ${{}}               | ${BEARER}
  ${'query'}  | ${`${AT}?x=1`}                  | ${`${AT}?x=1&apikey=a%20key%2F%2B`}  | ${{}}               | ${BEARER}
  ${'query'}  | ${`${AT}?apikey=a%20key%2F%2B`} | ${`${AT}?apikey=a%20key%2F%2B`}      | ${{}}               | ${BEARER}
  ${'query'}  | ${`${AT}?x=a/`}                 | ${`${AT}?x=a/&apikey=a%20key%2F%2B`} | ${{}}               | ${BEARER}
  ${'path'}   | ${`${AT}?x=1`}                  | ${`${AT}/APIKEY-a%20key%2F%2B?x=1`}  | ${{}}               | ${BEARER}
  ${'path'}   | ${`${AT}/`}                     | ${`${AT}/APIKEY-a%20key%2F%2B`}      | ${{}}               | ${BEARER}
  ${'path'}   | ${`${AT}/APIKEY-a%20key%2F%2B`} | ${`${AT}/APIKEY-a%20key%2F%2B`}      | ${{}}               | ${BEARER}
`('the key goes by $keyIn from $from to $url', ({ keyIn, from, url, headers, withToken }) => {
  const credentials = { keyIn, keyHeader: 'X-Key', basicUser: 'me' };
  const send = (token?: string) => {
    const request = addCredentials(new URL(from), credentials, { key: KEY, token });
    return { ...request, url: request.url.href };
  };
  expect(send()).toEqual({ url, headers });
  expect(send('t.o.k')).toEqual({ url, headers: withToken });
});
