import type { TcpNetConnectOpts } from 'node:net';
import { acting, stage } from '../stage.ts';

// node:net for a process of a schedule: no socket leaves it.
export * from 'node:net';

export const connect = (options: TcpNetConnectOpts) => stage().internet.connect(options, acting());
