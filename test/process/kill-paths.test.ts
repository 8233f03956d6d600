import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { casesOf } from '../budget.ts';
import { expectDone, idOf, logIn, type Program, pause, query, type Reply, runProgram, send, setUp, startProgram } from './program.ts';

const ROUNDS = casesOf(2);
/** Answers to each kind of request in a round. */
const ANSWERS = 2;
/** Enough text that a search for a pattern takes longer than a short attempt. */
const NOTES = 2000;
const TEXT = 'lorem ipsum '.repeat(100);

const folder = mkdtempSync(join(tmpdir(), 'bailiwick-kill-paths-'));
const [project, data] = [join(folder, 'project'), join(folder, 'data')];
mkdirSync(join(project, 'resources'), { recursive: true });
const definitions = {
  Tag: 'name: Tag\nchecksum: true\nfields:\n  name: { type: string, required: true }\n',
  Note: `name: Note
checksum: true
fields:
  text: { type: text, required: true }
  tagIds: { type: list, of: { type: reference, to: Tag, onDelete: setNull } }
`,
};
for (const [name, text] of Object.entries(definitions)) writeFileSync(join(project, 'resources', `${name}.yaml`), text);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const start = (): Promise<Program> =>
  startProgram({
    data,
    project,
    args: ['--log-level', 'error', '--rate-limit', '0', '--login-attempts', '100000', '--denial-window-seconds', '1'],
  });

/** The acknowledged changes and entries. */
interface Answered {
  readonly decisions: Set<string>;
  readonly deleted: Set<string>;
  logins: number;
  /** Answers to requests of each kind. */
  readonly counts: Map<SendOne, number>;
}

/** Sends one request of a kind; throws a TypeError if the service is gone. */
type SendOne = (url: string, token: string, answered: Answered) => Promise<Reply>;

const PATTERN = 'where[text][matches]=ipsum%20dolor';

/** The kinds of requests that commit by other paths than a short attempt. */
const KINDS: Readonly<Record<string, SendOne>> = {
  'a long search, whose entry the writer commits': (url, token) => send(url, `GET /api/Note?limit=5&${PATTERN}`, { token }),
  'a search of the audit log by an admin': (url, token) => send(url, 'GET /admin/api/decisions?limit=5', { token }),
  'a deletion, which clears references found in a snapshot': async (url, token, answered) => {
    const id = idOf(await expectDone(send(url, 'POST /api/Tag', { token, body: { name: 'a tag' } })));
    await expectDone(send(url, 'POST /api/Note', { token, body: { text: 'short', tagIds: [id] } }));
    const reply = await send(url, `DELETE /api/Tag/${id}`, { token });
    if (reply.status === 200) answered.deleted.add(id);
    return reply;
  },
  'a login': async (url, _, answered) => {
    await logIn(url, 'ada@example.com');
    answered.logins++;
    return send(url, 'GET /api/Tag?limit=1');
  },
  'a refused token': (url) => send(url, 'GET /api/Note', { token: 'a.b.c' }),
  'a denial without a token': (url) => send(url, 'GET /api/Note?limit=1'),
};

async function sendUntilGone(url: string, sendOne: SendOne, parts: { readonly token: string; readonly answered: Answered }): Promise<void> {
  for (;;) {
    try {
      const reply = await sendOne(url, parts.token, parts.answered);
      if (![200, 401, 403].includes(reply.status))
        throw new Error(`expected an answer, given ${reply.status} ${JSON.stringify(reply.body)}`);
      const { decisions, counts } = parts.answered;
      if (reply.decisionId !== null) decisions.add(reply.decisionId);
      counts.set(sendOne, (counts.get(sendOne) ?? 0) + 1);
    } catch (error) {
      if (error instanceof TypeError || error instanceof SyntaxError) return;
      throw error;
    }
  }
}

describe('kill -9 during long attempts, logins, refused tokens and deletions', () => {
  it(`loses no acknowledged entry or deletion, and leaves no damaged row, ${ROUNDS} times`, async () => {
    const answered: Answered = { decisions: new Set(), deleted: new Set(), logins: 0, counts: new Map() };
    const token = await prepare();
    for (let round = 1; round <= ROUNDS; round++) {
      const program = await start();
      const clients = Object.values(KINDS).map((sendOne) => sendUntilGone(program.url, sendOne, { token, answered }));
      const isEnough = (sendOne: SendOne): boolean => (answered.counts.get(sendOne) ?? 0) >= round * ANSWERS;
      while (!Object.values(KINDS).every(isEnough)) await Promise.race([pause(5), ...clients]);
      await program.stop('SIGKILL');
      await Promise.all(clients);
    }

    const program = await start();
    while (query(data, 'SELECT 1 FROM _RepeatedDenial').length > 0) await pause(50);
    expect(await program.stop()).toBe(0);
    const ids = new Set(query(data, 'SELECT id FROM _Decision'));
    expect([...answered.decisions].filter((id) => !ids.has(id))).toEqual([]);
    const left = new Set([...query(data, 'SELECT id FROM Tag'), ...query(data, 'SELECT value FROM Note, json_each(Note.tagIds)')]);
    expect([answered.deleted.size > 0, [...answered.deleted].filter((id) => left.has(id))]).toEqual([true, []]);
    // Every deletion has its entry, and the other way round; so has every session.
    const count = (sql: string): unknown => query(data, sql)[0];
    const entries = (where: string): unknown => count(`SELECT count(*) FROM _Decision WHERE allowed = 1 AND outcome IS NULL AND ${where}`);
    const gone = Number(entries(`resource = 'Tag' AND action = 'create'`)) - Number(count('SELECT count(*) FROM Tag'));
    expect(entries(`resource = 'Tag' AND action = 'delete'`)).toBe(gone);
    expect(count('SELECT count(*) FROM _Session')).toBe(entries(`kind = 'auth' AND action = 'login'`));
    expect(entries(`kind = 'auth' AND action = 'login'`)).toBeGreaterThanOrEqual(answered.logins);
    const verified = await runProgram(['verify', '--project', project, '--data', data, '--json']);
    expect([verified.code, JSON.parse(verified.out)]).toMatchObject([0, { isWhole: true }]);
  });
});

/** Sets up the service and stores the notes. Returns the token of an admin. */
async function prepare(): Promise<string> {
  const program = await start();
  const token = await setUp(program.url);
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/x-ndjson' };
  const body = Array.from({ length: NOTES }, (_, number) => JSON.stringify({ text: `${TEXT}${number}` })).join('\n');
  const imported = await fetch(`${program.url}/api/Note/import`, { method: 'POST', headers, body });
  expect([imported.status, await imported.text()]).toEqual([200, expect.any(String)]);
  expect(await program.stop()).toBe(0);
  return token;
}
