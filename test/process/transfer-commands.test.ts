/** The CLI commands import, export and policies, while a service runs on the same data. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { createChain } from '../chain.ts';
import { bundleProgram } from './bundle.ts';
import { createUser, type Ended, type Program, query, runProgram, send, setUp, startProgram } from './program.ts';
import { runCommand } from './run-command.ts';

// The tests of this file build on each other.
const it = createChain();

const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'bailiwick-shell-'));
const data = join(folder, 'data');
let program: Program;
let token = '';

beforeAll(async () => {
  program = await startProgram({ data });
  token = await setUp(program.url);
  await createUser(program.url, token, { email: 'uma@example.com', role: 'user' });
  const id = await createUser(program.url, token, { email: 'gone@example.com', role: 'admin' });
  await send(program.url, `PUT /api/User/${id}`, { token, body: { isActive: false } });
});
afterAll(async () => {
  await program.stop();
  rmSync(folder, { recursive: true, force: true });
});

const bailiwick = (...args: readonly string[]): Promise<Ended> => runProgram([...args, '--project', 'examples/newsroom', '--data', data]);
const inProcess = (...args: readonly string[]): Promise<Ended> => runCommand([...args, '--project', 'examples/newsroom', '--data', data]);
const tips = async (): Promise<number> => Number((await send(program.url, 'GET /api/Tip?total=true&limit=1', { token })).body['total']);

function write(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

describe('bailiwick import', () => {
  it('bailiwick import imports as the user, with audit entries, while the service runs', async () => {
    const file = write('tips.csv', 'subject,text,urgency\r\nA,"first, and\nlast",high\r\nB,second,\r\n,no subject,\r\n');
    const ended = await bailiwick('import', 'Tip', file, '--as', 'ada@example.com', '--on-error', 'skip');
    expect(ended).toMatchObject({ code: 1, err: '2 imported, 0 updated, 0 unchanged, 1 rejected\n' });
    expect(JSON.parse(ended.out)).toMatchObject({ row: 4, code: 'VALUE_INVALID', errors: [{ path: 'subject', code: 'required' }] });
    expect(await tips()).toBe(2);
    const entries = `SELECT "userId" || ' ' || "allowed" FROM "_Decision" WHERE "action" = 'import' AND "ip" = ''`;
    const [ada] = query(data, `SELECT "id" FROM "User" WHERE "email" = 'ada@example.com'`);
    expect(query(data, entries)).toEqual([`${ada} 1`, `${ada} 1`, `${ada} 1`]);
  });

  it('bailiwick import is denied by policies, and reports that nothing was imported', async () => {
    const ended = await inProcess('import', 'Tip', write('more.ndjson', '{"subject":"C","text":"x"}\n'), '--as', 'uma@example.com');
    expect(ended).toMatchObject({ code: 1, out: '', err: expect.stringContaining('no policies found') });
    expect(await tips()).toBe(2);
  });

  it('bailiwick import reports the imported rows if it is interrupted', async () => {
    const before = await tips();
    const args = ['import', 'Tip', '-', '--format', 'ndjson', '--as', 'ada@example.com', '--project', 'examples/newsroom', '--data', data];
    const child = spawn(process.execPath, [await bundleProgram(), ...args], { cwd: root, stdio: ['pipe', 'ignore', 'pipe'] });
    let err = '';
    child.stderr.setEncoding('utf8').on('data', (text) => (err += text));
    child.stdin.write('{"subject":"T","text":"x"}\n'.repeat(250));
    while ((await tips()) === before) await new Promise((resolve) => setTimeout(resolve, 20));
    child.kill('SIGINT');
    const [code] = await once(child, 'close');
    expect([code, err]).toEqual([
      1,
      'bailiwick: the command was interrupted; before this, 250 rows were imported and 0 updated; these changes are kept\n',
    ]);
    expect(await tips()).toBe(before + 250);
    for (const id of query(data, `SELECT "id" FROM "Tip" WHERE "subject" = 'T'`))
      await send(program.url, `DELETE /api/Tip/${id}`, { token });
  });

  it.each([
    ['an unknown user', ['Tip', 'tips.csv', '--as', 'unknown@example.com'], 1, 'bailiwick: no active user has the email'],
    ['an inactive user', ['Tip', 'tips.csv', '--as', 'gone@example.com'], 1, 'bailiwick: no active user has the email'],
    ['an unknown resource', ['Tipp', 'tips.csv', '--as', 'ada@example.com'], 1, 'did you mean "Tip"?'],
    ['a missing file', ['Tip', 'none.csv', '--as', 'ada@example.com'], 2, 'none.csv does not exist'],
  ])('bailiwick import refuses %s with the reason', async (_, [resource = '', file = '', ...args], code, words) => {
    const ended = await inProcess('import', resource, join(folder, file), ...args);
    expect([ended.code, ended.err]).toEqual([code, expect.stringContaining(words)]);
  });
});

describe('bailiwick export', () => {
  it('bailiwick export writes a complete file that can be imported again', async () => {
    const file = join(folder, 'out.csv');
    const ended = await bailiwick('export', 'Tip', file, '--as', 'ada@example.com', '--sort', 'subject', '--fields', 'subject,text');
    expect(ended).toMatchObject({ code: 0, err: '2 rows exported\n' });
    expect(readFileSync(file, 'utf8').replaceAll(/[0-9a-f-]{36}/g, 'ID')).toBe(
      'id,subject,text\r\nID,A,"first, and\nlast"\r\nID,B,second\r\n',
    );
    const changed = write('changed.csv', readFileSync(file, 'utf8').replace('second', 'changed'));
    const back = await inProcess('import', 'Tip', changed, '--as', 'ada@example.com', '--mode', 'upsert', '--key', 'id');
    expect(back).toMatchObject({ code: 0, err: '0 imported, 1 updated, 1 unchanged, 0 rejected\n' });
  });

  it('bailiwick export leaves no file if it is denied', async () => {
    const file = join(folder, 'denied.csv');
    const ended = await inProcess('export', 'Tip', file, '--as', 'uma@example.com');
    expect([ended.code, ended.err, existsSync(file)]).toEqual([1, expect.stringContaining('no policies found'), false]);
  });

  it('bailiwick export writes to a pipe, and import reads from one', async () => {
    const main = await bundleProgram();
    const command = (args: string): string =>
      `"${process.execPath}" "${main}" ${args} --as ada@example.com --project examples/newsroom --data "${data}"`;
    const pipe = `${command('export Tip --format ndjson')} | ${command('import Tip - --format ndjson')}`;
    const err = await new Promise<string>((resolve) => execFile('sh', ['-c', pipe], { cwd: root }, (_, __, text) => resolve(text)));
    expect(err).toContain('2 rows exported');
    expect(err).toContain('2 imported');
    expect(await tips()).toBe(4);
  });
});

describe('bailiwick policies', () => {
  const policy = { name: 'From the shell', type: 'CUSTOM', rules: [{ resource: 'Tip', action: 'read' }], roles: [{ role: 'viewer' }] };
  const named = async (): Promise<readonly string[]> => {
    const { data: all } = (await send(program.url, 'GET /admin/api/policies', { token })).body as { data: readonly { name: string }[] };
    return all.map(({ name }) => name);
  };

  it('bailiwick policies imports as the admin, with one revision and one entry, while the service runs', async () => {
    const file = write('policies.ndjson', [policy, { ...policy, name: 'Another' }].map((each) => `${JSON.stringify(each)}\n`).join(''));
    const tried = await inProcess('policies', 'import', file, '--as', 'ada@example.com', '--dry-run');
    const created = (name: string) =>
      `would create policy "${name}"\n  rule "ALLOW read on Tip" is added and allows read on resource Tip\n  assigned to role viewer: active, priority 100\n`;
    const summary = '2 created, 0 updated, 0 unchanged, 2 assigned; a dry run, nothing was stored\n';
    expect([tried.code, tried.out]).toEqual([0, created('From the shell') + created('Another') + summary]);
    expect(await named()).not.toContain('From the shell');
    const epoch = (): number => Number(query(data, `SELECT "number" FROM "_State" WHERE "id" = 'epoch'`)[0]);
    const before = epoch();
    expect(await bailiwick('policies', 'import', file, '--as', 'ada@example.com', '--reason', 'ticket 7')).toMatchObject({
      code: 0,
      out: '2 created, 0 updated, 0 unchanged, 2 assigned\n',
    });
    expect([epoch(), await named()]).toEqual([before + 1, expect.arrayContaining(['From the shell', 'Another'])]);
    const [ada] = query(data, `SELECT "id" FROM "User" WHERE "email" = 'ada@example.com'`);
    const entries = `SELECT "userId" || ' ' || "reason" || ', ' || ("facts" ->> 'changeReason') FROM "_Decision" WHERE "kind" = 'admin' AND "action" = 'import'`;
    expect(query(data, entries)).toEqual([`${ada} imported policies: 2 created, 0 updated, 0 unchanged, 2 assigned, ticket 7`]);
  });

  it.each(['json', 'ndjson'])('bailiwick policies exports the imported policies: %s', async (format) => {
    const file = join(folder, `all.${format}`);
    expect(await inProcess('policies', 'export', file)).toMatchObject({ code: 0 });
    const ended = await inProcess('policies', 'import', file, '--as', 'ada@example.com');
    expect([ended.code, ended.out]).toEqual([0, `0 created, 0 updated, ${(await named()).length} unchanged, 0 assigned\n`]);
    const shown = await bailiwick('policies', 'export', '--format', format);
    expect(shown.out).toBe(readFileSync(file, 'utf8'));
  });

  it('bailiwick policies reports every mistake with its line, and imports nothing', async () => {
    const file = write(
      'wrong.ndjson',
      `${JSON.stringify({ ...policy, name: 'Fine' })}\n\n${JSON.stringify({ ...policy, rules: [{ resource: 'Tip', action: 'reed' }] })}\n`,
    );
    const ended = await inProcess('policies', 'import', file, '--as', 'ada@example.com');
    expect([ended.code, ended.err]).toEqual([1, expect.stringMatching(/1 mistake .*\n {2}line 3: policies\.1\.rules\.0\.action: /)]);
    expect(await named()).not.toContain('Fine');
  });

  it.each([
    ['a user who is not an admin', ['--as', 'uma@example.com'], 'role user is not admin'],
    ['an inactive admin', ['--as', 'gone@example.com'], ''],
    ['no user', [], 'expected --as with the email of a user'],
    ['a table format', ['--as', 'ada@example.com', '--format', 'csv'], 'policies cannot be written as a table'],
  ])('bailiwick policies is refused for %s', async (_, who, said) => {
    const file = write('one.json', JSON.stringify({ policies: [{ ...policy, name: 'Refused' }] }));
    const ended = await inProcess('policies', 'import', file, ...who);
    expect([ended.code === 0, ended.out, ended.err]).toEqual([false, '', expect.stringContaining(said)]);
    expect(await named()).not.toContain('Refused');
  });
});

describe('bailiwick import of a JSON object', () => {
  it('bailiwick import takes a JSON object with data, and refuses flags beside it', async () => {
    const before = await tips();
    const file = write('object.json', JSON.stringify({ data: [{ subject: 'O', text: 'x' }] }));
    const refused = await inProcess('import', 'Tip', file, '--as', 'ada@example.com', '--dry-run');
    expect(refused).toMatchObject({ code: 1, err: expect.stringContaining('expected options as members beside `data`') });
    const ended = await inProcess('import', 'Tip', file, '--as', 'ada@example.com');
    expect(ended).toMatchObject({ code: 0, err: '1 imported, 0 updated, 0 unchanged, 0 rejected\n' });
    expect(await tips()).toBe(before + 1);
  });
});
