/** Requests whose changes must survive a power cut once they are answered, and what the database contains from then on. */
import { SAME_ORIGIN } from '../browser.ts';

/** A condition of the database that holds from a response on: the query returns 1. */
export interface Fact {
  readonly sql: string;
  readonly values: readonly (string | number)[];
}

/** A request that is refused from a response on, because the response revoked an access. */
export interface Refusal {
  readonly token: string;
  readonly path: string;
  readonly status: 401 | 403;
}

/** A request that was answered. */
export interface Answered {
  readonly requestId: string;
  readonly decisionId: string | null;
  readonly facts: Fact[];
  readonly refusals: Refusal[];
  /** A denial without a token, whose entry may be the number of an earlier one. */
  readonly isRepeated: boolean;
}

/** A request. The default status is any success. */
interface Sent {
  readonly token?: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly status?: number;
}

interface Reply extends Answered {
  readonly body: { readonly data?: { readonly id?: string; readonly version?: number }; readonly token?: string };
  readonly cookie: string;
}

/** Sends requests to a service, and collects those that were answered. */
export interface Client {
  readonly answered: Answered[];
  ask(call: string, sent?: Sent): Promise<Reply>;
}

/** Creates a client. @throws from `ask` if a response has another status than expected. */
export function createClient(url: string): Client {
  const answered: Answered[] = [];
  return {
    answered,
    async ask(call, { token, body, headers = {}, status } = {}) {
      const [method = '', path = ''] = call.split(' ', 2);
      const isText = typeof body === 'string';
      const response = await fetch(url + path, {
        method,
        headers: {
          ...(token !== undefined && { authorization: `Bearer ${token}` }),
          ...(body !== undefined && { 'content-type': isText ? 'application/x-ndjson' : 'application/json' }),
          ...headers,
        },
        ...(body !== undefined && { body: isText ? body : JSON.stringify(body) }),
      });
      const text = await response.text();
      if (status === undefined ? !response.ok : response.status !== status) throw new Error(`${call}: ${response.status} ${text}`);
      const answer: Reply = {
        requestId: response.headers.get('x-request-id') ?? '',
        decisionId: response.headers.get('x-decision-id'),
        facts: [],
        refusals: [],
        isRepeated: status === 403 && token === undefined,
        body: JSON.parse(text),
        cookie: response.headers.get('set-cookie')?.split(';')[0] ?? '',
      };
      answered.push(answer);
      return answer;
    },
  };
}

const fact = (sql: string, ...values: readonly (string | number)[]): Fact => ({ sql: `SELECT ${sql}`, values });
const sessionOf = (token = ''): string => JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()).sid;
const isRevoked = (session: string): Fact => fact('count(*) = 0 FROM _Session WHERE id = ? AND revokedAt IS NULL', session);

/** The accounts and the state that the rounds of a load share. */
export interface Stage {
  readonly admin: string;
  /** Ids of users. */
  readonly users: readonly string[];
  /** The password of the user who changes it. */
  password: string;
}

const EMAIL = 'ada@example.com';
const PASSWORD = 'correct horse battery';
const ROWS = 50;
const NOTES = 1500;
const TEXT = 'lorem ipsum '.repeat(100);

/** The definitions of the project. */
export const DEFINITIONS: Readonly<Record<string, string>> = {
  Article: 'name: Article\nchecksum: true\nfields:\n  title: { type: string, required: true }\n',
  Comment: `name: Comment
checksum: true
fields:
  articleId: { type: reference, to: Article, onDelete: cascade }
`,
  Note: 'name: Note\nfields:\n  text: { type: text, required: true }\n',
};

/** Creates the first admin, two users, and the notes that the long searches read. */
export async function setUpStage({ ask }: Client): Promise<Stage> {
  await ask('POST /auth/setup', { body: { email: EMAIL, password: PASSWORD, name: 'Ada' } });
  const { token: admin = '' } = (await ask('POST /auth/login', { body: { email: EMAIL, password: PASSWORD } })).body;
  const users: string[] = [];
  for (const name of ['ben', 'dan']) {
    const user = { email: `${name}@example.com`, password: PASSWORD, name };
    users.push((await ask('POST /api/User', { token: admin, body: user })).body.data?.id ?? '');
  }
  const own = [{ field: 'resource.id', operator: 'eq', value: '${user.id}' }];
  const rules = [{ resource: 'User', action: 'update', conditions: own }];
  const { id } =
    (await ask('POST /admin/api/policies', { token: admin, body: { name: 'Own account', type: 'CUSTOM', rules } })).body.data ?? {};
  await ask(`POST /admin/api/policies/${id}/assign/role/user`, { token: admin, body: {} });
  await importNotes({ ask, admin, count: NOTES, text: TEXT });
  return { admin, users, password: PASSWORD };
}

interface NotesToImport {
  readonly ask: Client['ask'];
  readonly admin: string;
  readonly count: number;
  readonly text: string;
}

async function importNotes({ ask, admin, count, text }: NotesToImport): Promise<void> {
  const body = Array.from({ length: count }, (_, number) => JSON.stringify({ text: `${text}${number}` })).join('\n');
  const { facts } = await ask('POST /api/Note/import', { token: admin, body });
  facts.push(fact('count(*) = ? FROM Note WHERE text LIKE ?', count, `${text}%`));
}

/** One round of requests of one kind; `round` is unique. */
type Round = (client: Client, stage: Stage, round: string) => Promise<void>;

/** The kinds of requests. */
export const KINDS: Readonly<Record<string, Round>> = {
  async 'a long search in a reader thread'({ ask }, { admin }) {
    // No note matches, so the search reads all of them.
    await ask('GET /api/Note?limit=5&where[text][matches]=dolor%20ipsum', { token: admin });
  },
  async 'a refused token'({ ask }) {
    await ask('GET /api/Note', { token: 'a.b.c', status: 401 });
  },
  async 'repeated denials'({ ask }) {
    for (let time = 0; time < 5; time++) await ask('GET /api/Note', { status: 403 });
  },
  async 'a login and a logout'({ ask }) {
    const login = await ask('POST /auth/login', { body: { email: 'ben@example.com', password: PASSWORD } });
    const { token = '' } = login.body;
    login.facts.push(fact('count(*) = 1 FROM _Session WHERE id = ?', sessionOf(token)));
    const logout = await ask('POST /auth/logout', { token });
    logout.facts.push(isRevoked(sessionOf(token)));
    logout.refusals.push({ token, path: '/auth/me', status: 401 });
  },
  async 'a browser session'({ ask }) {
    const body = { email: 'ben@example.com', password: PASSWORD };
    const { cookie } = await ask('POST /auth/session', { body, headers: SAME_ORIGIN });
    const { token = '' } = (await ask('POST /auth/session/refresh', { headers: { ...SAME_ORIGIN, cookie } })).body;
    const end = await ask('DELETE /auth/session', { headers: { ...SAME_ORIGIN, cookie } });
    end.facts.push(isRevoked(sessionOf(token)));
    end.refusals.push({ token, path: '/auth/me', status: 401 });
  },
  async 'a deletion that cascades'({ ask }, { admin }, round) {
    const created = await ask('POST /api/Article', { token: admin, body: { title: round } });
    const articleId = created.body.data?.id ?? '';
    for (let number = 0; number < 3; number++) await ask('POST /api/Comment', { token: admin, body: { articleId } });
    const { facts } = await ask(`DELETE /api/Article/${articleId}`, { token: admin });
    facts.push(fact('count(*) = 0 FROM Article WHERE id = ?', articleId), fact('count(*) = 0 FROM Comment WHERE articleId = ?', articleId));
  },
  async 'an import'({ ask }, { admin }, round) {
    await importNotes({ ask, admin, count: ROWS, text: `import ${round}: ` });
  },
  async 'a policy, its change and its rollback'({ ask }, { admin: token }, round) {
    const rules = [{ resource: 'Note', action: 'read' }];
    const content = { name: `Rolled back ${round}`, type: 'CUSTOM', rules };
    const created = await ask('POST /admin/api/policies', { token, body: { ...content, description: 'first' } });
    const { id = '', version = 0 } = created.body.data ?? {};
    const versions = (count: number): Fact => fact(`count(*) >= ? FROM _PolicyHistory WHERE kind = 'policy' AND subjectId = ?`, count, id);
    created.facts.push(versions(1));
    (await ask(`PUT /admin/api/policies/${id}`, { token, body: { description: 'second' } })).facts.push(versions(2));
    const { facts } = await ask(`POST /admin/api/policies/${id}/rollback`, { token, body: { revision: version, reason: 'wrong' } });
    facts.push(versions(3), fact(`description = 'first' FROM _Policy WHERE id = ?`, id));
  },
  async 'a batch of assignments, and its revocation'({ ask }, { admin: token, users }, round) {
    const rules = [{ resource: 'Article', action: 'list' }];
    const policy = await ask('POST /admin/api/policies', { token, body: { name: `Batch ${round}`, type: 'CUSTOM', rules } });
    const policyId = policy.body.data?.id ?? '';
    const count = (number: number): Fact => fact('count(*) = ? FROM _UserPolicy WHERE policyId = ?', number, policyId);
    const account = { email: `${round}@example.com`, password: PASSWORD };
    const { id: userId = '' } = (await ask('POST /api/User', { token, body: { ...account, name: round } })).body.data ?? {};
    const change = (op: string) => ({ changes: [userId, ...users].map((each) => ({ op, policyId, userId: each })) });
    await ask('POST /admin/api/assignments/batch', { token, body: change('assign') });
    const login = await ask('POST /auth/login', { body: account });
    await ask('GET /api/Article?limit=1', { token: login.body.token ?? '' });
    const revoked = await ask('POST /admin/api/assignments/batch', { token, body: change('revoke') });
    revoked.facts.push(count(0));
    revoked.refusals.push({ token: login.body.token ?? '', path: '/api/Article?limit=1', status: 403 });
  },
  async 'a change of the own password'({ ask }, stage, round) {
    const logIn = () => ask('POST /auth/login', { body: { email: 'dan@example.com', password: stage.password } });
    const [token = '', other = ''] = [(await logIn()).body.token, (await logIn()).body.token];
    const body = { currentPassword: stage.password, newPassword: `a longer battery ${round}` };
    const changed = await ask('PUT /auth/me/password', { token, body });
    stage.password = body.newPassword;
    changed.facts.push(isRevoked(sessionOf(other)));
    changed.refusals.push({ token: other, path: '/auth/me', status: 401 });
  },
  async 'a saved view'({ ask }, { admin: token }, round) {
    const stored = (version: number): Fact => fact('count(*) = 1 FROM _SavedView WHERE name = ? AND version >= ?', round, version);
    const view = { screen: 'decisions', query: { where: { allowed: false } } };
    (await ask(`PUT /auth/me/views?name=${round}`, { token, body: view })).facts.push(stored(1));
    const headers = { 'if-match': '"1"' };
    (await ask(`PUT /auth/me/views?name=${round}`, { token, body: { ...view, screen: 'other' }, headers })).facts.push(stored(2));
  },
};
