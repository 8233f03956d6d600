import type { IncomingMessage, Server, ServerResponse } from 'node:http';

interface Held {
  readonly response: ServerResponse;
  readonly keepAlive: boolean;
}

/** Requests whose client waits for `100 Continue` before it sends the body. */
const held = new WeakMap<IncomingMessage, Held>();

/** Delays `100 Continue` until the body is read, so that a client does not send a body that is rejected anyway. */
export function holdContinue(server: Server): void {
  server.on('checkContinue', (raw: IncomingMessage, response: ServerResponse) => {
    held.set(raw, { response, keepAlive: response.shouldKeepAlive });
    // Without a 100 the client may send the body or not, so the next bytes could be the body or another request.
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

/** Returns whether the client still waits for `100 Continue`. */
export function isHeld(raw: IncomingMessage): boolean {
  return held.has(raw);
}
