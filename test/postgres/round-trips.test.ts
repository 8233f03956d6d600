/** The number of round trips of a request to the server, which pipelines statements. Each round trip costs network latency. */
import { createConnection, createServer, type Server } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type RunningService, startService, type TestUser } from '../harness.ts';
import { withSchema } from './test-database.ts';

/** Number of messages to the server: each waits for the response to the one before, or uses another connection. */
let messages = 0;
let tap: Server;
let service: RunningService;
let user: TestUser;
let own: string;
let others: string;

beforeAll(async () => {
  const server = new URL(process.env['TEST_POSTGRES_URL'] ?? '');
  tap = createServer((client) => {
    const upstream = createConnection({ host: server.hostname, port: Number(server.port) });
    for (const socket of [client, upstream]) socket.on('error', () => undefined);
    client.on('data', (data) => {
      messages++;
      upstream.write(data);
    });
    upstream.pipe(client);
    client.on('close', () => upstream.destroy());
  });
  await new Promise<void>((resolve) => tap.listen(0, '127.0.0.1', resolve));
  const url = new URL(withSchema(server.href));
  url.host = `127.0.0.1:${(tap.address() as { port: number }).port}`;
  service = await startService({ definitions: { 'Note.yaml': NOTE }, settings: { database: url.href } });
  user = await service.user();
  const isOwn = { field: 'resource.authorId', operator: 'eq', value: '$' + '{user.id}' };
  await service.createPolicy({
    role: 'user',
    rules: ['create', 'read', 'update', 'list'].map((action) => ({ resource: 'Note', action, conditions: [isOwn] })),
  });
  own = await service.createRecord('Note', { authorId: user.id });
  others = await service.createRecord('Note', { authorId: (await service.admin()).id });
});
afterAll(async () => {
  await service.close();
  tap.close();
});

const NOTE = 'name: Note\nfields:\n  authorId: { type: reference, to: User }\n  text: { type: string }\n';

interface Asked {
  readonly method: string;
  readonly path: () => string;
  readonly body?: () => unknown;
  readonly status: number;
}

const mine = (): unknown => ({ authorId: user.id });
it.each<[what: string, asked: Asked, count: number]>([
  ['a read takes two: the data, and its entry', { method: 'GET', path: () => `/api/Note/${own}`, status: 200 }, 2],
  ['a denied read takes two', { method: 'GET', path: () => `/api/Note/${others}`, status: 403 }, 2],
  ['a list takes three: the caller, the rows, and its entry', { method: 'GET', path: () => '/api/Note', status: 200 }, 3],
  [
    'a create takes two: the caller with the referenced record, and the row with its entry',
    { method: 'POST', path: () => '/api/Note', body: mine, status: 201 },
    2,
  ],
  [
    'a batch of creates takes two, as one create does',
    {
      method: 'POST',
      path: () => '/api/batch',
      body: () => ({ requests: Array.from({ length: 20 }, () => ({ resource: 'Note', action: 'create', data: mine() })) }),
      status: 200,
    },
    2,
  ],
  [
    'an update takes two: the data, and the change with its entry',
    { method: 'PUT', path: () => `/api/Note/${own}`, body: () => ({ text: 'b' }), status: 200 },
    2,
  ],
])('pipelines the statements of a request: %s', async (_, { method, path, body, status }, count) => {
  const counts: number[] = [];
  // The minimum of several: the first requests also prepare statements and probe the connection.
  for (let times = 0; times < 8; times++) {
    const before = messages;
    const sent = { token: user.token, ...(body !== undefined && { body: body() }) };
    expect((await service.call(method, path(), sent)).status).toBe(status);
    counts.push(messages - before);
  }
  expect(Math.min(...counts)).toBe(count);
});
