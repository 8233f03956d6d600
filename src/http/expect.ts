import type { IncomingMessage, Server, ServerResponse } from 'node:http';

interface Held {
  readonly response: ServerResponse;
  readonly keepAlive: boolean;
}

/** Requests whose client waits for `100 Continue` before it sends the body. */
const held = new WeakMap<IncomingMessage, Held>();

/** Leaves `100 Continue` to the one who reads the body, so that a client does not send one that is refused anyway. */
export function holdContinue(server: Server): void {
  server.on('checkContinue', (raw: IncomingMessage, response: ServerResponse) => {
    held.set(raw, { response, keepAlive: response.shouldKeepAlive });
    // Without a 100 the body may come or not: whatever follows on the connection could be either.
    response.shouldKeepAlive = false;
    server.emit('request', raw, response);
  });
}

/** Asks for the body of a request whose client waits for that. */
export function continueBody(raw: IncomingMessage): void {
  const waiting = held.get(raw);
  if (waiting === undefined) return;
  held.delete(raw);
  waiting.response.shouldKeepAlive = waiting.keepAlive;
  waiting.response.writeContinue();
}

/** Whether the client still waits, and has not been asked for the body. */
export function isHeld(raw: IncomingMessage): boolean {
  return held.has(raw);
}
