import autocannon from 'autocannon';

/** A request of the load generator. */
export interface Sent {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH';
  readonly path: string;
  readonly body?: object;
  /** Headers of this request; by default those of its kind. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** A kind of request: creates the nth request, and holds the common headers. */
export interface Call {
  readonly headers: Readonly<Record<string, string>>;
  toRequest(turn: number): Sent;
}

/** Target, strength and length of a load. */
export interface Loading {
  readonly url: string;
  readonly connections: number;
  readonly seconds: number;
}

/** The result of a load. */
export interface Loaded {
  readonly rate: number;
  readonly requests: number;
  readonly beside: Readonly<Record<string, number>>;
}

let turn = 0;

/** Sends requests of one kind for some seconds. @throws Error if a request fails. */
export async function load(call: Call, { url, connections, seconds }: Loading): Promise<Loaded> {
  const setupRequest = (request: autocannon.Request): autocannon.Request => ({ ...request, ...toSend(call.toRequest(turn++)) });
  const before = process.cpuUsage();
  const result = await autocannon({ url, connections, duration: seconds, headers: { ...call.headers }, requests: [{ setupRequest }] });
  const { user, system } = process.cpuUsage(before);
  const failed = result.non2xx + result.errors;
  if (failed > 0) {
    const { method, path } = call.toRequest(turn++);
    throw new Error(
      `${method} ${path}: ${failed} of ${result.requests.total} requests failed, statuses ${JSON.stringify(result.statusCodeStats)}`,
    );
  }
  const { p50, p99 } = result.latency;
  return {
    rate: result.requests.total / result.duration,
    requests: result.requests.total,
    // Near 100 % of a core, the load generator limits the rate.
    beside: { 'p50 ms': p50, 'p99 ms': p99, 'load core %': (user + system) / (result.duration * 10_000) },
  };
}

function toSend({ method, path, body, headers }: Sent): autocannon.Request {
  return { method, path, ...(body !== undefined && { body: JSON.stringify(body) }), ...(headers && { headers: { ...headers } }) };
}
