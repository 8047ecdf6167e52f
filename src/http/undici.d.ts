// undici by its files: its index also evaluates fetch, web sockets, caches and mocks, which costs start-up.
declare module 'undici/lib/dispatcher/client.js' {
  import type { Client } from 'undici';

  const client: typeof Client;
  export default client;
}

declare module 'undici/lib/core/connect.js' {
  import type { Socket } from 'node:net';
  import type { TLSSocket } from 'node:tls';
  import type { buildConnector } from 'undici';

  type Callback = (error: Error | null, socket: Socket | TLSSocket | null) => void;
  /** Unlike undici's own types tell, it gives the socket at once. */
  export type Connector = (options: buildConnector.Options, callback: Callback) => Socket;
  const build: (options: buildConnector.BuildOptions & object) => Connector;
  export default build;
}
