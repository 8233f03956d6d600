import { expect, it } from 'vitest';
import { Input, Type } from '../schemas/index.ts';
import { readBodyMembers } from './request-members.ts';

const SCHEMA = Input({ id: Type.Optional(Type.String()), data: Type.Optional(Type.Unknown()) });

it('returns the members of the schema, and no others, however many there are', () => {
  const others = Object.fromEntries(Array.from({ length: 200 }, (_, index) => [`other${index}`, index]));
  const { members, issues } = readBodyMembers({ ...others, data: { a: 1 } }, SCHEMA);
  expect([members, issues.length > 0]).toEqual([{ data: { a: 1 } }, true]);
});

it('leaves out a member with a mistake', () => {
  const { members, issues } = readBodyMembers({ id: 1, data: 2 }, SCHEMA);
  expect([members, issues.map(({ path }) => path)]).toEqual([{ data: 2 }, ['id']]);
});
