/** undici's client alone: its index also evaluates fetch, web sockets, caches and mocks, which costs start-up. */
declare module 'undici/lib/dispatcher/client.js' {
  import type { Client } from 'undici';

  const client: typeof Client;
  export default client;
}
