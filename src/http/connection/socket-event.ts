import type { Socket } from 'node:net';

/** Waits for one event; destroys the socket and throws when it fails, ends or the signal aborts first. */
export function socketEvent(socket: Socket, event: string, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (error?: unknown) => {
      socket.off(event, onEvent).off('error', settle).off('close', onClose);
      signal.removeEventListener('abort', onAbort);
      if (error === undefined) {
        resolve();
        return;
      }
      // A late error has nobody to go to.
      socket.on('error', () => {}).destroy();
      reject(error);
    };
    const onEvent = () => settle();
    const onClose = () => settle(Object.assign(new Error('the connection was closed'), { code: 'ECONNRESET' }));
    const onAbort = () => settle(signal.reason);
    socket.once(event, onEvent).once('error', settle).once('close', onClose);
    // By hand: the socket must be let go of in the very turn in which the signal aborts.
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
  });
}
