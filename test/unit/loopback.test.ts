import { expect, test } from 'vitest';
import { isLoopback } from '../../src/http/loopback.ts';

test.each([
  ...['localhost', 'LOCALHOST', '127.0.0.1', '127.8.9.10', '127.255.255.255', '127.1', '0x7f.1', '2130706433'],
  ...['[::1]', '[0:0:0:0:0:0:0:1]'],
])('http://%s/ is loopback', (host) => {
  expect(isLoopback(new URL(`http://${host}/`).hostname)).toBe(true);
});

test.each([
  ...['localhost.', 'x.localhost', 'localhost.example.com', 'notlocalhost', 'example.com', '127.0.0.1.example.com'],
  ...['126.255.255.255', '128.0.0.1', '0.0.0.0', '[::2]', '[::]'],
])('http://%s/ is not', (host) => {
  expect(isLoopback(new URL(`http://${host}/`).hostname)).toBe(false);
});

// Addresses to listen on, and what a Host header may hold, come without a URL's brackets or its reading of numbers.
test('of hosts as they are', () => {
  expect(['::1', '127.1', '127.0.0.1.', '', '[]'].filter(isLoopback)).toEqual(['::1']);
});
