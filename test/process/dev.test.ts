import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { createChain } from '../chain.ts';
import { CHECKOUT, expectDone, idOf, type Program, send, setUp, startProgram } from './program.ts';

const folder = mkdtempSync(join(tmpdir(), 'bailiwick-dev-'));
const resources = join(folder, 'resources');

function save(file: string, fields: Readonly<Record<string, string>>): void {
  const lines = Object.entries(fields).map(([name, field]) => `  ${name}: ${field}`);
  writeFileSync(join(resources, `${file}.yaml`), `name: ${file}\nfields:\n${lines.join('\n')}\n`);
}

/** A developer edits definitions and checks the terminal output and the API. Each test continues from the one before. */
describe('dev', () => {
  // These tests build on each other.
  const it = createChain();
  const title = '{ type: string, required: true }';
  let program: Program;
  let token: string;
  let id: string;

  beforeAll(async () => {
    mkdirSync(resources);
    save('Event', { title });
    program = await startProgram({ data: join(folder, 'data'), project: folder, command: 'dev', main: CHECKOUT });
    token = await setUp(program.url);
    id = idOf(await expectDone(send(program.url, 'POST /api/Event', { token, body: { title: 'a talk' } })));
  });
  afterAll(async () => {
    await program.stop('SIGINT');
    rmSync(folder, { recursive: true, force: true });
  });

  const read = async (): Promise<unknown> => (await expectDone(send(program.url, `GET /api/Event/${id}`, { token }))).body.data;

  it('dev allows requests from pages of this machine, such as a web app under development', async () => {
    const preflight = (origin: string): Promise<Response> =>
      fetch(`${program.url}/api/Event`, { method: 'OPTIONS', headers: { origin, 'access-control-request-method': 'POST' } });
    expect((await preflight('http://localhost:5173')).headers.get('access-control-allow-origin')).toBe('http://localhost:5173');
    expect((await preflight('https://app.example.com')).status).toBe(403);
  });

  it('dev applies a new field at once', async () => {
    save('Event', { title, room: '{ type: string }' });
    await program.prints('Event.room is new');
    await expectDone(send(program.url, `PUT /api/Event/${id}`, { token, body: { room: 'Aula' } }));
    expect(await read()).toMatchObject({ title: 'a talk', room: 'Aula' });
  });

  it('dev keeps the old definitions after a mistake, and reports it', async () => {
    save('Event', { title, room: '{ type: strng }', seats: '{ type: integer, mim: 1 }' });
    await program.prints('the definitions stay as they were: 2 mistakes in the definitions');
    await program.prints('resources/Event.yaml:4:17 fields.room.type: unknown type "strng" (did you mean "string"?)');
    await program.prints('resources/Event.yaml:5:27 fields.seats.mim: unknown option "mim" (did you mean "min"?)');
    expect(await read()).toMatchObject({ room: 'Aula' });
  });

  it('dev archives the values of a removed field, and restores them', async () => {
    save('Event', { title });
    await program.prints('Event.room is no longer defined; its column is archived');
    expect(await read()).not.toHaveProperty('room');
    save('Event', { title, room: '{ type: string }' });
    await program.prints('Event.room is defined again; its archived values are restored');
    expect(await read()).toMatchObject({ room: 'Aula' });
  });

  it('dev keeps values through a rename', async () => {
    save('Event', { title, place: '{ type: string, renamedFrom: room }' });
    await program.prints('Event.room is renamed to place and keeps its values');
    expect(await read()).toMatchObject({ place: 'Aula' });
  });

  it('dev refuses a change that stored records violate, with the reason', async () => {
    save('Event', { title, place: '{ type: integer }' });
    await program.prints('Event was not migrated: Event.place changes from string to integer');
    save('Event', { title, place: '{ type: string }', seats: '{ type: integer, required: true }' });
    await program.prints('Event was not migrated: Event.seats is required, but 1 record has no value');
    expect(await read()).toMatchObject({ place: 'Aula' });
    save('Event', { title, place: '{ type: string }' });
  });

  it('dev applies a new resource, and archives the records of a removed one', async () => {
    save('Talk', { title });
    await program.prints('created tables: Talk');
    await expectDone(send(program.url, 'POST /api/Talk', { token, body: { title: 'on rules' } }));
    rmSync(join(resources, 'Talk.yaml'));
    await program.prints('Talk is no longer defined; its table is archived');
    expect((await send(program.url, 'GET /api/Talk', { token })).status).toBe(404);
    save('Talk', { title });
    await program.prints('Talk is defined again; its archived records are restored');
    const { body } = await expectDone(send(program.url, 'GET /api/Talk', { token }));
    expect(body.data).toMatchObject([{ title: 'on rules' }]);
  });

  it('dev ignores temporary files of editors', async () => {
    const before = program.printed();
    writeFileSync(join(resources, '.Event.yaml.swp'), 'x');
    writeFileSync(join(resources, 'Event.yaml~'), 'x');
    // The next definition is loaded after these files were seen.
    save('Room', { title });
    await program.prints('created tables: Room');
    expect(program.printed().slice(before.length)).not.toMatch(/swp|Event/);
  });

  const inPolicies = (name: string): string => join(folder, 'policies', name);
  const policyOf = (action: string): string =>
    `{ name: Guests, type: ROLE_BASED, roles: [{ role: anon }], rules: [{ resource: Event, action: ${action} }] }`;
  const guestReads = async (): Promise<number> => (await send(program.url, `GET /api/Event/${id}`)).status;

  it('dev applies policies when their folder is created, without an admin, and runs their tests', async () => {
    mkdirSync(join(folder, 'policies'));
    writeFileSync(inPolicies('guests.test.yaml'), 'tests: [{ name: a, resource: Event, action: list, expect: { anon: ALLOW } }]');
    writeFileSync(inPolicies('guests.yaml'), policyOf('read'));
    await program.prints('policies applied: 1 created');
    await program.prints('expected ALLOW, got DENY');
    await program.prints('0 passed, 1 failed');
    expect(await guestReads()).toBe(200);
    const { body } = await expectDone(send(program.url, 'GET /admin/api/decisions?action=apply', { token }));
    expect(body.data).toMatchObject([{ kind: 'admin', requestId: 'bailiwick dev' }]);
  });

  it('dev keeps the last policies while a file has mistakes, and prints their lines', async () => {
    writeFileSync(inPolicies('guests.yaml'), policyOf('raed'));
    await program.prints('the policies stay as they were: 1 mistake in the policies');
    await program.prints('policies/guests.yaml:1:');
    expect(await guestReads()).toBe(200);
  });

  it('dev makes the policy of a removed file inactive, and active again when a file has it', async () => {
    renameSync(join(folder, 'policies'), join(folder, 'elsewhere'));
    await program.prints('policy "Guests" is no longer in policies/guests.yaml: not active any more');
    expect(await guestReads()).toBe(403);
    renameSync(join(folder, 'elsewhere'), join(folder, 'policies'));
    writeFileSync(inPolicies('visitors.yaml'), policyOf('read'));
    rmSync(inPolicies('guests.yaml'));
    await program.prints('the policy is in policies/visitors.yaml instead of policies/guests.yaml');
    expect(await guestReads()).toBe(200);
  });
});
