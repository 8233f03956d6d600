import { type IncomingMessage, ServerResponse } from 'node:http';

/** A response that counts the bytes of its body, for the access log. */
export class CountedResponse<Request extends IncomingMessage = IncomingMessage> extends ServerResponse<Request> {
  /** The bytes that were written; without the head of the response and the frames of chunks. */
  sentBytes = 0;

  override write(chunk: unknown, ...more: unknown[]): boolean {
    this.#count(chunk, more[0]);
    return super.write(chunk, ...(more as [BufferEncoding]));
  }

  override end(chunk?: unknown, ...more: unknown[]): this {
    this.#count(chunk, more[0]);
    return super.end(chunk, ...(more as [BufferEncoding]));
  }

  /** Node sends no body of a response to HEAD, and of one with status 204 or 304. */
  #count(chunk: unknown, encoding: unknown): void {
    if (this.req.method === 'HEAD' || this.statusCode === 204 || this.statusCode === 304) return;
    if (typeof chunk === 'string') this.sentBytes += Buffer.byteLength(chunk, encoding as BufferEncoding);
    else if (chunk instanceof Uint8Array) this.sentBytes += chunk.byteLength;
  }
}
