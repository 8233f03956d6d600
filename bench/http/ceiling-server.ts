/** The server by hand: `node ceiling-server.ts <port> <file>`. `BENCH_SECRET` holds the secret of its tokens. */
import fastify, { type FastifyReply, type FastifyRequest } from 'fastify';
import { jwtVerify } from 'jose/jwt/verify';
import { LRUCache } from 'lru-cache';
import { createIdByTime, digestOf, openStore } from './ceiling-store.ts';

const [port = '', path = ''] = process.argv.slice(2);
const key = new TextEncoder().encode(process.env['BENCH_SECRET']);
const { driver, run } = openStore(path);
const verified = new LRUCache<string, Token>({ max: 10_000 });

const who = driver.prepare<[string, string], Caller>(
  'SELECT u.id, u.role FROM user u JOIN session s ON s.userId = u.id WHERE u.id = ? AND s.id = ? AND u.isActive = 1 AND s.revokedAt IS NULL',
);
const COLUMNS = 'id, version, createdAt, updatedAt, createdBy, title, slug, body, status, authorId, publishedAt';
const byId = driver.prepare<[string, string], Article>(`SELECT ${COLUMNS} FROM article WHERE id = ? AND authorId = ?`);
const list = driver.prepare<[string, number], Article>(`SELECT ${COLUMNS} FROM article WHERE authorId = ? ORDER BY id LIMIT ?`);
const listByStatus = driver.prepare<[string, string, number], Article>(
  `SELECT ${COLUMNS} FROM article WHERE authorId = ? AND status = ? ORDER BY publishedAt DESC, id DESC LIMIT ?`,
);
const count = driver.prepare<[string], number>('SELECT count(*) FROM article WHERE authorId = ?').pluck();
const insert = driver.prepare<unknown[], Article>(`INSERT INTO article VALUES (?, 1, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING ${COLUMNS}`);
const change = driver.prepare<[string, string, string, string], Article>(
  `UPDATE article SET title = ?, updatedAt = ?, version = version + 1 WHERE id = ? AND authorId = ? RETURNING ${COLUMNS}`,
);
const audit = driver.prepare('INSERT INTO audit VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)');

interface Token {
  readonly userId: string;
  readonly sessionId: string;
  readonly expires: number;
}

interface Caller {
  readonly id: string;
  readonly role: string;
}

interface Article {
  readonly id: string;
  readonly authorId: string;
  readonly title: string;
  readonly slug: string;
  readonly body?: string;
  readonly status?: string;
  readonly publishedAt?: string;
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
  answer(request, reply, { action: 'read', work: ({ id }) => byId.get(request.params.id, id) }),
);
app.get<{ Querystring: { limit: number; status?: string } }>('/articles', { schema: { ...many, querystring: query() } }, (request, reply) =>
  answer(request, reply, {
    action: 'list',
    work({ id }) {
      const { limit, status } = request.query;
      return status === undefined ? list.all(id, limit) : listByStatus.all(id, status, limit);
    },
  }),
);
app.get('/articles/total', (request, reply) =>
  answer(request, reply, { action: 'list', work: ({ id }) => ({ total: count.get(id) }), bare: true }),
);
app.post<{ Body: Article }>('/articles', { schema: { ...one, body } }, (request, reply) =>
  answer(request, reply, { action: 'create', status: 201, work: (caller) => create(caller, request.body) }),
);
app.put<{ Params: { id: string }; Body: { title: string } }>(
  '/articles/:id',
  { schema: { ...one, body: { type: 'object', additionalProperties: false, properties: { title: body.properties.title } } } },
  (request, reply) =>
    answer(request, reply, {
      action: 'update',
      work: ({ id }) => change.get(request.body.title, new Date().toISOString(), request.params.id, id),
    }),
);
app.post<{ Body: { articles: readonly Article[] } }>(
  '/articles/batch',
  { schema: { ...many, body: { type: 'object', properties: { articles: { type: 'array', items: body, maxItems: 100 } } } } },
  (request, reply) =>
    answer(request, reply, {
      action: 'create',
      entries: request.body.articles.length,
      work: (caller) => request.body.articles.map((article) => create(caller, article)),
    }),
);
await app.listen({ port: Number(port), host: '127.0.0.1' });

interface Handling {
  readonly action: string;
  readonly status?: number;
  readonly entries?: number;
  readonly bare?: boolean;
  /** Returns undefined if the caller may not see the record. */
  work(caller: Caller): unknown;
}

/** Loads the caller, runs the handler and writes the audit rows in one transaction, and responds after its commit. */
async function answer(request: FastifyRequest, reply: FastifyReply, handling: Handling): Promise<unknown> {
  const token = await verify(request.headers.authorization?.slice('Bearer '.length) ?? '');
  if (token === undefined) return reply.code(401).send({});
  const done = await run(() => {
    const caller = who.get(token.userId, token.sessionId);
    const found = caller === undefined ? undefined : handling.work(caller);
    for (let entry = 0; entry < (handling.entries ?? 1); entry++)
      record(request, { caller, action: handling.action, allowed: found !== undefined });
    return found;
  });
  if (done === undefined) return reply.code(404).send({});
  return reply.code(handling.status ?? 200).send(handling.bare === true ? done : { success: true, data: done });
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

interface Entry {
  readonly caller: Caller | undefined;
  readonly action: string;
  readonly allowed: boolean;
}

function record({ params, id, ip }: FastifyRequest, { caller, action, allowed }: Entry): void {
  const recordId = (params as { id?: string }).id ?? null;
  const at = new Date().toISOString();
  audit.run(createIdByTime(), at, caller?.id ?? null, caller?.role ?? null, 'Article', action, recordId, allowed ? 1 : 0, id, ip);
}

function create(caller: Caller, { authorId, title, slug, body: text, status, publishedAt }: Article): Article | undefined {
  if (authorId !== caller.id) return undefined;
  const at = new Date().toISOString();
  return insert.get(createIdByTime(), at, at, caller.id, title, slug, text ?? null, status ?? 'draft', authorId, publishedAt ?? null);
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
