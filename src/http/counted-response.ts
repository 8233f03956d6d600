import { type IncomingMessage, ServerResponse } from 'node:http';

/** A response that counts the bytes of its body, for the access log. */
export class CountedResponse<Request extends IncomingMessage = IncomingMessage> extends ServerResponse<Request> {
  /** The bytes that were written; without the head of the response and the frames of chunks. */
  bodyBytes = 0;

  override write(chunk: unknown, ...more: unknown[]): boolean {
    this.#count(chunk, more[0]);
    return super.write(chunk, ...(more as [BufferEncoding]));
  }

  override end(chunk?: unknown, ...more: unknown[]): this {
    this.#count(chunk, more[0]);
    return super.end(chunk, ...(more as [BufferEncoding]));
  }

  /** Node discards the body of a response to HEAD. */
  #count(chunk: unknown, encoding: unknown): void {
    if (this.req.method === 'HEAD') return;
    if (typeof chunk === 'string') this.bodyBytes += Buffer.byteLength(chunk, encoding as BufferEncoding);
    else if (chunk instanceof Uint8Array) this.bodyBytes += chunk.byteLength;
  }
}
