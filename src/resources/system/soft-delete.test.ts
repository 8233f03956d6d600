import { describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../operators/index.ts';
import { composeDefinitions } from './system-definitions.ts';

const locate = () => ({ line: 1, column: 1 });
const mistakesIn = (...sources: readonly Json[]): readonly string[] =>
  composeDefinitions(sources.map((source, index) => ({ file: `${index}.yaml`, source, locate }))).mistakes.map(
    ({ path, detail }) => `${path}: ${detail}`,
  );
const child = (to: string, onDelete: string, more: JsonObject = {}): JsonObject => ({
  name: 'Child',
  softDelete: true,
  fields: { up: { type: 'reference', to, onDelete } },
  ...more,
});
const parent: JsonObject = { name: 'Parent', fields: { label: { type: 'string' } } };

describe('softDelete', () => {
  it('would keep records whose other end is gone', () => {
    const why = 'a resource with softDelete cannot cascade from Parent, which has no softDelete';
    expect(mistakesIn(parent, child('Parent', 'cascade'))).toEqual([
      `fields.up.onDelete: ${why}: give Parent softDelete too, or use restrict or setNull`,
    ]);
    const list = { up: { type: 'list', of: { type: 'reference', to: 'Parent', onDelete: 'cascade' } } };
    expect(mistakesIn(child('Parent', 'cascade', { fields: list }), parent)).toEqual([
      `fields.up.of.onDelete: ${why}: give Parent softDelete too, or use restrict`,
    ]);
    expect(mistakesIn(child('User', 'cascade'))).toEqual([
      'fields.up.onDelete: a resource with softDelete cannot cascade from User, which has no softDelete: expected restrict or setNull',
    ]);
  });

  it.each(['restrict', 'setNull'])('goes with %s', (onDelete) => {
    expect(mistakesIn(parent, child('Parent', onDelete), { ...parent, name: 'Other', softDelete: true })).toEqual([]);
  });

  it('goes with cascade where both ends are kept, or the lower is not', () => {
    const kept = { ...parent, softDelete: true };
    expect(mistakesIn(kept, child('Parent', 'cascade'))).toEqual([]);
    expect(mistakesIn(kept, child('Parent', 'cascade', { softDelete: false }))).toEqual([]);
    expect(mistakesIn(child('Child', 'cascade'))).toEqual([]);
    expect(mistakesIn(parent, child('Parent', 'cascade', { softDelete: false }))).toEqual([]);
  });

  it('is nothing for users', () => {
    expect(mistakesIn({ name: 'User', softDelete: true, fields: { team: { type: 'string' } } })).toEqual([
      'softDelete: expected none: users are not deleted softly but deactivated, with isActive',
    ]);
    expect(mistakesIn({ name: 'User', softDelete: false })).toEqual([]);
  });
});
