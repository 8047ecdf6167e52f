import type { OnReadOpts, TcpNetConnectOpts } from 'node:net';
import type { Process } from './process.ts';
import { current, type Scheduler } from './scheduler.ts';
import { DrivenSocket } from './socket.ts';

/** What becomes of an attempt to connect. */
export type Welcome = 'open' | 'refused' | 'no answer';

/** The service's end of a connection. Each of these happens when the schedule lets it; nothing happens after the end. */
export interface Connection {
  readonly process: Process;
  /** Whom it leads to: HOST:PORT. */
  readonly host: string;
  /** The program has closed it, or is gone. */
  readonly closed: boolean;
  /** Whether all of it was taken before the program closed the connection. */
  send(bytes: Buffer): Promise<boolean>;
  finish(): Promise<void>;
  reset(unseen: boolean): Promise<void>;
}

/** Given each request's head, as text, of one connection after the other. */
export type Serve = (head: string, connection: Connection) => Promise<void>;

const END_OF_HEAD = '\r\n\r\n';

/** All connections of a schedule. */
export class Internet {
  readonly #scheduler: Scheduler;
  readonly #serve: Serve;
  readonly #welcome: () => Welcome;

  constructor(scheduler: Scheduler, serve: Serve, welcome: () => Welcome) {
    this.#scheduler = scheduler;
    this.#serve = serve;
    this.#welcome = welcome;
  }

  connect(options: TcpNetConnectOpts & { onread?: OnReadOpts | undefined }, process: Process): DrivenSocket {
    if (!options.onread) throw new Error('a connection without onread: the program reads otherwise by now');
    const line = new Line(this.#scheduler, process, `${options.host}:${options.port}`, this.#serve);
    const socket = new DrivenSocket(options.onread, line);
    line.socket = socket;
    const welcome = this.#welcome();
    if (welcome !== 'open') process.unreached += 1;
    if (welcome === 'no answer') return socket;
    void this.#scheduler.do(
      () => `connect: ${welcome}`,
      () => {
        if (socket.destroyed) return;
        if (welcome === 'open') socket.emit('connect');
        else
          socket.destroy(
            Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED', syscall: 'connect' }),
          );
      },
    );
    return socket;
  }
}

/** One connection, seen from the service. */
class Line implements Connection {
  readonly process: Process;
  readonly host: string;
  socket: DrivenSocket | undefined;
  readonly #scheduler: Scheduler;
  readonly #serve: Serve;
  #heard = '';
  #closed = false;
  /** The service has ended it: whatever is asked over it from now on has no answer. */
  #isEnded = false;

  constructor(scheduler: Scheduler, process: Process, host: string, serve: Serve) {
    this.#scheduler = scheduler;
    this.process = process;
    this.host = host;
    this.#serve = serve;
  }

  get closed(): boolean {
    return this.#closed || this.process.dead;
  }

  gone(): void {
    this.#closed = true;
  }

  sent(bytes: Buffer, sent: () => void): void {
    const what = () => `send ${bytes.toString('latin1').split(' HTTP', 1)[0]}`;
    void this.#scheduler.do(what, () => this.#hear(bytes)).then(sent);
  }

  #hear(bytes: Buffer): void {
    if (this.#isEnded) return;
    this.#heard += bytes.toString('latin1');
    const end = this.#heard.indexOf(END_OF_HEAD);
    if (end < 0) return;
    const head = this.#heard.slice(0, end);
    this.#heard = this.#heard.slice(end + END_OF_HEAD.length);
    // The service is nobody's process.
    current.run(undefined, () => void this.#serve(head, this));
  }

  async send(bytes: Buffer): Promise<boolean> {
    let rest = bytes;
    while (rest.length > 0 && !this.closed) {
      await this.socket?.reading();
      const taken = await this.#do(`${rest.length} bytes come`, (socket) => socket.arrive(rest));
      rest = rest.subarray(taken);
    }
    return rest.length === 0;
  }

  async finish(): Promise<void> {
    this.#isEnded = true;
    await this.#do('FIN comes', (socket) => socket.finish());
  }

  async reset(unseen: boolean): Promise<void> {
    await this.#do('RST comes', (socket) => socket.reset(unseen));
  }

  /** In the name of the process whose socket it is. */
  async #do<T>(what: string, act: (socket: DrivenSocket) => T): Promise<T> {
    const { socket } = this;
    if (!socket || this.closed) return await new Promise(() => {});
    return await this.#scheduler.do(
      () => what,
      () => act(socket),
      this.process,
    );
  }
}
