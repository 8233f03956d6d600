/** Definition files: resources in YAML and JSON, indexes, a legacy permissions map without effect, and a project's own User. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SetupError } from '../../src/errors.ts';
import { createChain } from '../chain.ts';
import { startService } from '../harness.ts';
import { checkScenarios, type Scenario, type ScenarioContext } from './scenario.ts';

const ROOM = `
name: Room
description: Where meetings are
fields:
  building: { type: string, required: true, description: Which house }
  number:   { type: integer, required: true }
  note:     { type: text }
indexes:
  - { fields: [building, number], unique: true }
permissions:
  list: [anon, user]
  create: [user]
`;
const BOOKING = JSON.stringify({
  name: 'Booking',
  fields: { roomId: { type: 'reference', to: 'Room', required: true }, at: { type: 'timestamp', default: '2026-01-01T00:00:00Z' } },
});
const USER =
  'name: User\nfields:\n  role: { type: enum, values: [anon, user, admin, moderator] }\n  phone: { type: string, unique: true }\n';

let stage: ScenarioContext;
beforeAll(async () => {
  const service = await startService({ definitions: { 'Room.yaml': ROOM, 'Booking.json': BOOKING, 'User.yml': USER } });
  const admin = await service.admin();
  const user = await service.user();
  const lister = await service.user();
  await service.createPolicy({
    userId: lister.id,
    rules: [{ resource: 'Room', action: 'list', conditions: [{ field: 'resource.number', operator: 'gt', value: 100 }] }],
  });
  stage = {
    service,
    tokens: new Map(Object.entries({ admin: admin.token, user: user.token, lister: lister.token })),
    kept: new Map(Object.entries({ admin: admin.id, user: user.id, lister: lister.id })),
  };
});
afterAll(() => stage.service.close());

const room = (name: string, body: object, status: number, more: Partial<Scenario>): Scenario => ({
  name,
  as: 'admin',
  send: 'POST /api/Room',
  body,
  status,
  ...more,
});
const created = { action: 'create', allowed: true };

describe('a definition', () => {
  const it = createChain();
  checkScenarios(
    () => stage,
    [
      room('creates a resource from a definition', { building: 'north', number: 1 }, 201, {
        keep: { room: 'data.id' },
        entries: [created],
      }),
      room('creates a unique index over two fields, which rejects an equal pair', { building: 'north', number: 1 }, 409, {
        body_has: { code: 'RECORD_EXISTS', errors: [{ path: 'building' }, { path: 'number' }] },
        entries: [{ ...created, outcome: 'RECORD_EXISTS' }],
      }),
      room('accepts a pair that differs in one field of a unique index', { building: 'north', number: 2 }, 201, { entries: [created] }),
      {
        name: 'accepts a definition in JSON, and returns its defaults in canonical form',
        as: 'admin',
        send: 'POST /api/Booking',
        body: { roomId: '{room}' },
        status: 201,
        body_has: { data: { roomId: '{room}', at: '2026-01-01T00:00:00.000Z' } },
        entries: [created],
      },
      {
        name: 'adds the fields and roles of a definition to User',
        as: 'admin',
        send: 'POST /api/User',
        body: { email: 'mo@example.com', role: 'moderator', phone: '1' },
        status: 201,
        body_has: { data: { email: 'mo@example.com', role: 'moderator', phone: '1', isActive: true, name: null } },
        body_lacks: ['data.password'],
        entries: [created],
      },
      {
        name: 'describes a resource to a user who may list only some of its records',
        as: 'lister',
        send: 'GET /api/Room/schema',
        status: 200,
        body_has: {
          data: { name: 'Room', description: 'Where meetings are', indexes: [{ fields: ['building', 'number'], unique: true }] },
        },
        entries: [{ resource: 'Room', action: 'list', allowed: true }],
      },
      {
        name: 'a permissions map allows an anonymous caller nothing',
        send: 'GET /api/Room',
        status: 403,
        body_has: { code: 'ACCESS_DENIED' },
        entries: [{ role: 'anon', allowed: false }],
      },
      {
        name: 'a permissions map allows a user nothing',
        as: 'user',
        send: 'POST /api/Room',
        body: { building: 'south', number: 1 },
        status: 403,
        entries: [{ action: 'create', allowed: false }],
      },
    ],
    it,
  );

  it('describes each field of a resource with its options and operators', async () => {
    const reply = await stage.service.call('GET', '/api/Room/schema', { token: stage.tokens.get('admin') });
    const fields = reply.at('data.fields') as readonly { name: string }[];
    expect(fields.map(({ name }) => name)).toEqual(['id', 'version', 'createdAt', 'updatedAt', 'createdBy', 'building', 'number', 'note']);
    expect(fields.find(({ name }) => name === 'building')).toMatchObject({
      type: 'string',
      required: true,
      description: 'Which house',
      operators: expect.arrayContaining(['eq', 'in', 'icontains', 'matches']),
    });
    expect(reply.at('data.jsonSchema.create.required')).toEqual(['building', 'number']);
  });

  it('sets createdAt once, and updatedAt with each change', async () => {
    const { service, tokens, kept } = stage;
    const token = tokens.get('admin');
    const before = await service.call('GET', `/api/Room/${kept.get('room')}`, { token });
    await new Promise((resolve) => setTimeout(resolve, 5));
    const after = await service.call('PUT', `/api/Room/${kept.get('room')}`, { token, body: { note: 'painted' } });
    expect(after.at('data.createdAt')).toBe(before.at('data.createdAt'));
    expect(Date.parse(String(after.at('data.updatedAt')))).toBeGreaterThan(Date.parse(String(before.at('data.updatedAt'))));
    expect(after.at('data.createdBy')).toBe(kept.get('admin'));
  });
});

describe('a definition with mistakes', () => {
  it('refuses to start with invalid definitions, and describes every mistake with its position and a suggestion', async () => {
    const definitions = {
      'Room.yaml':
        'name: Room\nfields:\n  size: { type: integr }\n  name: { type: string, requird: true }\n  host: { type: reference, to: Usr }\n',
      'User.yaml': 'name: User\nfields:\n  email: { type: string }\n',
    };
    const mistakes = await startService({ definitions }).then(
      (service) => service.close().then(() => []),
      (error: unknown) => (error instanceof SetupError ? error.mistakes : [String(error)]),
    );
    expect(mistakes).toEqual([
      expect.stringMatching(/Room\.yaml:3:\d+ .*"integr" \(did you mean "integer"\?\)/),
      expect.stringMatching(/Room\.yaml:4:\d+ .*"requird" \(did you mean "required"\?\)/),
      expect.stringMatching(/Room\.yaml:5:\d+ .*"Usr" \(did you mean "User"\?\)/),
      expect.stringMatching(/User\.yaml:3:\d+ .*type: expected no change/),
    ]);
  });
});
