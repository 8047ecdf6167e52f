import { describe, expect, test } from 'vitest';
import { type Credentials, carry, type KeyWay, withoutCredentials } from '../../src/service/credentials.ts';

const KEY = 'k/y+%?&=1 ä';
const PERCENT = encodeURIComponent(KEY);
const URL_TEXT = 'https://a.example/v1/download?accession_no=1&file_name=x';
const credentials = (keyIn: KeyWay, token?: string): Credentials => ({
  source: 'test',
  key: KEY,
  keyIn,
  keyHeader: 'X-Own-Key',
  basicUser: 'user',
  token: token === undefined ? undefined : async () => token,
});

describe('carry', () => {
  test.each<[KeyWay, string | undefined, string, Record<string, string>]>([
    ['authorization', undefined, URL_TEXT, { authorization: KEY }],
    ['basic', undefined, URL_TEXT, { authorization: `Basic ${Buffer.from(`user:${KEY}`).toString('base64')}` }],
    ['header', undefined, URL_TEXT, { 'X-Own-Key': KEY }],
    ['header', 'a.b.c', URL_TEXT, { 'X-Own-Key': KEY, authorization: 'Bearer a.b.c' }],
    ['query', undefined, `${URL_TEXT}&apikey=${PERCENT}`, {}],
    ['query', 'a.b.c', `${URL_TEXT}&apikey=${PERCENT}`, { authorization: 'Bearer a.b.c' }],
    ['path', undefined, URL_TEXT.replace('?', `/APIKEY-${PERCENT}?`), {}],
    ['path', 'a.b.c', URL_TEXT.replace('?', `/APIKEY-${PERCENT}?`), { authorization: 'Bearer a.b.c' }],
  ])('by %s, token %s', async (keyIn, token, url, headers) => {
    const carried = await carry(new URL(URL_TEXT), credentials(keyIn, token));
    expect(carried.url.href).toBe(url);
    expect(carried.headers).toEqual(headers);
  });

  test('the given URL stays as it is', async () => {
    const url = new URL(URL_TEXT);
    await carry(url, credentials('query'));
    await carry(url, credentials('path'));
    expect(url.href).toBe(URL_TEXT);
  });

  test('the token is asked for at every request', async () => {
    let minted = 0;
    const fresh = { ...credentials('header'), token: async () => `t${++minted}` };
    await carry(new URL(URL_TEXT), fresh);
    expect((await carry(new URL(URL_TEXT), fresh)).headers).toMatchObject({ authorization: 'Bearer t2' });
  });
});

describe('withoutCredentials', () => {
  test.each([
    [`https://b.example/f?x=1&apikey=${PERCENT}`, 'https://b.example/f?x=1'],
    [`https://b.example/f?ApiKey=${PERCENT}&x=1`, 'https://b.example/f?x=1'],
    // Another key is the other service's own; a hidden one of ours is refused by the client.
    ['https://b.example/f?apikey=other&x=a%20b', 'https://b.example/f?apikey=other&x=a%20b'],
    ['https://b.example/f?token=a', 'https://b.example/f?token=a'],
    [`https://b.example/f/APIKEY-${PERCENT}`, 'https://b.example/f'],
    [`https://b.example/f/APIKEY-${PERCENT}?x=1`, 'https://b.example/f?x=1'],
    ['https://b.example/f?x=a%20b&y=%2B', 'https://b.example/f?x=a%20b&y=%2B'],
  ])('%s becomes %s', (from, to) => {
    expect(withoutCredentials(new URL(from), KEY).href).toBe(to);
  });
});
