/** The server by hand: `node ceiling-server.ts <port> <database>`, a SQLite file or `postgres://…`. `BENCH_SECRET` holds the secret of its tokens. */
import fastify, { type FastifyReply, type FastifyRequest } from 'fastify';
import { jwtVerify } from 'jose/jwt/verify';
import { LRUCache } from 'lru-cache';
import { openPostgresStore } from './ceiling-postgres.ts';
import { openSqliteStore } from './ceiling-sqlite.ts';
import { type Asked, COLUMNS, digestOf, type ListQuery, type NewArticle } from './ceiling-store.ts';

const [port = '', database = ''] = process.argv.slice(2);
const key = new TextEncoder().encode(process.env['BENCH_SECRET']);
const store = database.startsWith('postgres') ? openPostgresStore(database) : openSqliteStore(database);
const verified = new LRUCache<string, Token>({ max: 10_000 });

interface Token {
  readonly userId: string;
  readonly sessionId: string;
  readonly expires: number;
}

const ARTICLE = {
  type: 'object',
  properties: {
    ...Object.fromEntries(COLUMNS.split(', ').map((name) => [name, { type: ['string', 'null'] }])),
    version: { type: 'integer' },
  },
};
const one = { response: { 200: envelope(ARTICLE), 201: envelope(ARTICLE) } };
const many = { response: { 200: envelope({ type: 'array', items: ARTICLE }) } };
const body = {
  type: 'object',
  required: ['title', 'slug', 'authorId'],
  additionalProperties: false,
  properties: {
    title: { type: 'string', minLength: 3, maxLength: 200 },
    slug: { type: 'string', maxLength: 100 },
    body: { type: 'string' },
    status: { enum: ['draft', 'published'] },
    authorId: { type: 'string' },
    publishedAt: { type: 'string', format: 'date-time' },
  },
};

const app = fastify({ bodyLimit: 1_048_576 });
app.get('/healthz', async () => ({}));
app.get<{ Params: { id: string } }>('/articles/:id', { schema: one }, (request, reply) =>
  answer(request, reply, (asked) => store.read(asked, request.params.id)),
);
app.get<{ Querystring: ListQuery }>('/articles', { schema: { ...many, querystring: query() } }, (request, reply) =>
  answer(request, reply, (asked) => store.list(asked, request.query)),
);
app.get('/articles/total', (request, reply) => answer(request, reply, store.total));
app.post<{ Body: NewArticle }>('/articles', { schema: { ...one, body } }, (request, reply) =>
  answer(request, reply.code(201), async (asked) => (await store.create(asked, [request.body]))?.[0]),
);
app.put<{ Params: { id: string }; Body: { title: string } }>(
  '/articles/:id',
  { schema: { ...one, body: { type: 'object', additionalProperties: false, properties: { title: body.properties.title } } } },
  (request, reply) => answer(request, reply, (asked) => store.update(asked, request.params.id, request.body.title)),
);
app.post<{ Body: { articles: readonly NewArticle[] } }>(
  '/articles/batch',
  { schema: { ...many, body: { type: 'object', properties: { articles: { type: 'array', items: body, maxItems: 100 } } } } },
  (request, reply) => answer(request, reply, (asked) => store.create(asked, request.body.articles)),
);
await app.listen({ port: Number(port), host: '127.0.0.1' });

/** Verifies the token, and responds after the commit of the work. */
async function answer(request: FastifyRequest, reply: FastifyReply, work: (asked: Asked) => Promise<unknown>): Promise<unknown> {
  const token = await verify(request.headers.authorization?.slice('Bearer '.length) ?? '');
  if (token === undefined) return reply.code(401).send({});
  const { userId, sessionId } = token;
  const data = await work({ userId, sessionId, requestId: request.id, ip: request.ip });
  return data === undefined ? reply.code(404).send({}) : reply.send({ success: true, data });
}

async function verify(token: string): Promise<Token | undefined> {
  const digest = digestOf(token);
  const known = verified.get(digest);
  if (known !== undefined && known.expires * 1000 > Date.now()) return known;
  try {
    const { payload } = await jwtVerify(token, key, { algorithms: ['HS256'] });
    const fresh = { userId: payload.sub ?? '', sessionId: String(payload['sid']), expires: payload.exp ?? 0 };
    verified.set(digest, fresh);
    return fresh;
  } catch {
    // The token is invalid or expired.
    return undefined;
  }
}

function envelope(data: object): object {
  return { type: 'object', properties: { success: { type: 'boolean' }, data } };
}

function query(): object {
  return {
    type: 'object',
    properties: {
      limit: { type: 'integer', minimum: 1, maximum: 1000, default: 50 },
      status: { type: 'string' },
      sort: { type: 'string' },
    },
  };
}
