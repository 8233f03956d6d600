/** Failures of the network, as opposed to refusals of the service and mistakes of the program: only these are worth another attempt. */

/** A failure of `fetch`, or of the body of a response. It stays inside the client: calls throw its cause. */
export class Interruption extends Error {}

/** Returns the result of the network. @throws Interruption if it fails */
export async function fromNetwork<T>(result: Promise<T>): Promise<T> {
  try {
    return await result;
  } catch (cause) {
    throw new Interruption('', { cause });
  }
}
