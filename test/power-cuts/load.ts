/** Requests whose changes must survive a power cut once they are answered, and what the database contains from then on. */
import { createHash } from 'node:crypto';
import { SAME_ORIGIN } from '../browser.ts';
import type { Program } from '../process/program.ts';
import { type Answered, type Client, type Fact, toAnswered, toFact } from './load-client.ts';

const sessionOf = (token = ''): string => JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()).sid;
const isRevoked = (session: string): Fact => toFact('count(*) = 0 FROM _Session WHERE id = ? AND revokedAt IS NULL', session);

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
  Tag: 'name: Tag\nfields:\n  name: { type: string, required: true }\n',
  Card: 'name: Card\nfields:\n  tagIds: { type: list, of: { type: reference, to: Tag, onDelete: setNull } }\n',
  Item: 'name: Item\nfields:\n  size: { type: string }\n',
};

/** The definition to which a migration changes `Item`. It loses a value, so a backup is made first. */
export const CHANGED_ITEM = 'name: Item\nfields:\n  size: { type: integer }\n';

/** Returns what the setup token promises that a start has printed: it can be used until an admin exists. */
export async function readSetupToken(program: Program): Promise<Answered> {
  await program.prints("-d '");
  const [, token = ''] = /\/console\/setup#token=(\S+)/.exec(program.printed()) ?? [];
  const hash = createHash('sha256').update(token).digest('hex');
  const isValid = toFact(
    `(SELECT count(*) FROM User WHERE role = 'admin') = 1 OR (SELECT instr(text, ?) FROM _State WHERE id = 'setupTokens') > 0`,
    hash,
  );
  return toAnswered(token, { facts: [isValid] });
}

/** Creates the first admin, two users, the notes that the long searches read, and the items that are migrated. */
export async function setUpStage({ ask }: Client, setupToken: string): Promise<Stage> {
  const setup = await ask('POST /auth/setup', { body: { email: EMAIL, password: PASSWORD, name: 'Ada', token: setupToken } });
  setup.facts.push(toFact(`count(*) = 0 FROM _State WHERE id = 'setupTokens'`));
  const login = await ask('POST /auth/login', { body: { email: EMAIL, password: PASSWORD } });
  const { token: admin = '' } = login.body;
  // The token is valid as long as the key that signed it.
  login.promises.push({ token: admin, path: '/auth/me', status: 200 });
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
  const items = ['1', '2', 'wide'].map((size) => JSON.stringify({ size })).join('\n');
  (await ask('POST /api/Item/import?atomic=true', { token: admin, body: items })).facts.push(toFact('count(*) = 3 FROM Item'));
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
  facts.push(toFact('count(*) = ? FROM Note WHERE text LIKE ?', count, `${text}%`));
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
    login.facts.push(toFact('count(*) = 1 FROM _Session WHERE id = ?', sessionOf(token)));
    const logout = await ask('POST /auth/logout', { token });
    logout.facts.push(isRevoked(sessionOf(token)));
    logout.promises.push({ token, path: '/auth/me', status: 401 });
  },
  async 'a browser session'({ ask }) {
    const body = { email: 'ben@example.com', password: PASSWORD };
    const { cookie } = await ask('POST /auth/session', { body, headers: SAME_ORIGIN });
    const { token = '' } = (await ask('POST /auth/session/refresh', { headers: { ...SAME_ORIGIN, cookie } })).body;
    const end = await ask('DELETE /auth/session', { headers: { ...SAME_ORIGIN, cookie } });
    end.facts.push(isRevoked(sessionOf(token)));
    end.promises.push({ token, path: '/auth/me', status: 401 });
  },
  async 'a deletion that cascades'({ ask }, { admin }, round) {
    const created = await ask('POST /api/Article', { token: admin, body: { title: round } });
    const articleId = created.body.data?.id ?? '';
    for (let number = 0; number < 3; number++) await ask('POST /api/Comment', { token: admin, body: { articleId } });
    const { facts } = await ask(`DELETE /api/Article/${articleId}`, { token: admin });
    facts.push(
      toFact('count(*) = 0 FROM Article WHERE id = ?', articleId),
      toFact('count(*) = 0 FROM Comment WHERE articleId = ?', articleId),
    );
  },
  async 'an update'({ ask }, { admin: token }) {
    const { id = '' } = (await ask('POST /api/Article', { token, body: { title: 'Updated 1' } })).body.data ?? {};
    for (const version of [2, 3]) {
      const { facts } = await ask(`PUT /api/Article/${id}`, { token, body: { title: `Updated ${version}` } });
      facts.push(toFact('version >= ? FROM Article WHERE id = ?', version, id));
    }
  },
  async 'an atomic batch'({ ask }, { admin: token }, round) {
    const comment = { resource: 'Comment', action: 'create', data: { articleId: '$0.id' } };
    const requests = [{ resource: 'Article', action: 'create', data: { title: `Batch ${round}` } }, comment, comment];
    const { facts } = await ask('POST /api/batch', { token, body: { requests, atomic: true } });
    facts.push(toFact('count(*) = 1 FROM Article WHERE title = ?', `Batch ${round}`));
  },
  async 'a deletion that clears references found in a snapshot'({ ask }, { admin: token }, round) {
    const { id = '' } = (await ask('POST /api/Tag', { token, body: { name: round } })).body.data ?? {};
    await ask('POST /api/Card', { token, body: { tagIds: [id] } });
    const { facts } = await ask(`DELETE /api/Tag/${id}`, { token });
    facts.push(toFact('count(*) = 0 FROM Tag WHERE id = ?', id));
  },
  async 'an import'({ ask }, { admin }, round) {
    await importNotes({ ask, admin, count: ROWS, text: `import ${round}: ` });
  },
  async 'a policy, its change and its rollback'({ ask }, { admin: token }, round) {
    const rules = [{ resource: 'Note', action: 'read' }];
    const content = { name: `Rolled back ${round}`, type: 'CUSTOM', rules };
    const created = await ask('POST /admin/api/policies', { token, body: { ...content, description: 'first' } });
    const { id = '', version = 0 } = created.body.data ?? {};
    const versions = (count: number): Fact =>
      toFact(`count(*) >= ? FROM _PolicyHistory WHERE kind = 'policy' AND subjectId = ?`, count, id);
    created.facts.push(versions(1));
    (await ask(`PUT /admin/api/policies/${id}`, { token, body: { description: 'second' } })).facts.push(versions(2));
    const { facts } = await ask(`POST /admin/api/policies/${id}/rollback`, { token, body: { revision: version, reason: 'wrong' } });
    facts.push(versions(3), toFact(`description = 'first' FROM _Policy WHERE id = ?`, id));
  },
  async 'a batch of assignments, and its revocation'({ ask }, { admin: token, users }, round) {
    const rules = [{ resource: 'Article', action: 'list' }];
    const policy = await ask('POST /admin/api/policies', { token, body: { name: `Batch ${round}`, type: 'CUSTOM', rules } });
    const policyId = policy.body.data?.id ?? '';
    const count = (number: number): Fact => toFact('count(*) = ? FROM _UserPolicy WHERE policyId = ?', number, policyId);
    const account = { email: `${round}@example.com`, password: PASSWORD };
    const { id: userId = '' } = (await ask('POST /api/User', { token, body: { ...account, name: round } })).body.data ?? {};
    const change = (op: string) => ({ changes: [userId, ...users].map((each) => ({ op, policyId, userId: each })) });
    await ask('POST /admin/api/assignments/batch', { token, body: change('assign') });
    const login = await ask('POST /auth/login', { body: account });
    await ask('GET /api/Article?limit=1', { token: login.body.token ?? '' });
    const revoked = await ask('POST /admin/api/assignments/batch', { token, body: change('revoke') });
    revoked.facts.push(count(0));
    revoked.promises.push({ token: login.body.token ?? '', path: '/api/Article?limit=1', status: 403 });
  },
  async 'a change of the own password'({ ask }, stage, round) {
    const logIn = () => ask('POST /auth/login', { body: { email: 'dan@example.com', password: stage.password } });
    const [token = '', other = ''] = [(await logIn()).body.token, (await logIn()).body.token];
    const body = { currentPassword: stage.password, newPassword: `a longer battery ${round}` };
    const changed = await ask('PUT /auth/me/password', { token, body });
    stage.password = body.newPassword;
    changed.facts.push(isRevoked(sessionOf(other)));
    changed.promises.push({ token: other, path: '/auth/me', status: 401 });
  },
  async 'a saved view'({ ask }, { admin: token }, round) {
    const stored = (version: number): Fact => toFact('count(*) = 1 FROM _SavedView WHERE name = ? AND version >= ?', round, version);
    const view = { screen: 'decisions', query: { where: { allowed: false } } };
    (await ask(`PUT /auth/me/views?name=${round}`, { token, body: view })).facts.push(stored(1));
    const headers = { 'if-match': '"1"' };
    (await ask(`PUT /auth/me/views?name=${round}`, { token, body: { ...view, screen: 'other' }, headers })).facts.push(stored(2));
  },
};
