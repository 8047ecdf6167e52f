import { expect, test } from 'vitest';
import { isLoopback } from '../../src/loopback.ts';

test('recognizes the loopback hosts of URLs', () => {
  const numbers = ['127.0.0.1', '127.8.9.10', '127.255.255.255', '127.1', '0x7f.1', '2130706433'];
  const loopback = ['localhost', 'LOCALHOST', ...numbers, '[::1]', '[0:0:0:0:0:0:0:1]'];
  const names = ['localhost.', 'x.localhost', 'localhost.example.com', 'notlocalhost', '127.0.0.1.example.com'];
  const others = [...names, '126.255.255.255', '128.0.0.1', '0.0.0.0', '[::2]', '[::]'];
  const hosts = [...loopback, ...others];
  expect(hosts.filter((host) => isLoopback(new URL(`http://${host}/`).hostname))).toEqual(loopback);
});

// Listen addresses and Host headers have no brackets, and no URL parser has normalized their numbers.
test('recognizes ::1 outside a URL, but no shortened, dotted or empty address', () => {
  expect(['::1', '127.1', '127.0.0.1.', '', '[]'].filter(isLoopback)).toEqual(['::1']);
});
