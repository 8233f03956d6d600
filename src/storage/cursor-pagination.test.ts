import { createSecretKey, randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { problemOf } from '../resources/article.fixture.ts';
import { openCursor, sealCursor } from './cursor-pagination.ts';

const key = createSecretKey(randomBytes(32));
const position = { id: 'abc', keys: ['secret text', null, 12.5], skip: 3 };
const sealed = sealCursor(position, key, 'this list');
const flip = (index: number): string => {
  const bytes = Buffer.from(sealed, 'base64url');
  bytes[index] = (bytes[index] ?? 0) ^ 1;
  return bytes.toString('base64url');
};

describe('a cursor', () => {
  it('a cursor opens to the sealed position', () => {
    expect(openCursor(sealed, key, 'this list')).toEqual(position);
  });

  it('a cursor does not reveal its content, and is different each time', () => {
    expect(Buffer.from(sealed, 'base64url').includes('secret')).toBe(false);
    expect(sealCursor(position, key, 'this list')).not.toBe(sealed);
  });

  it.each([
    ['nothing', '', key, 'this list'],
    ['something else', 'not-a-cursor', key, 'this list'],
    ['another list', sealed, key, 'that list'],
    ['another key', sealed, createSecretKey(randomBytes(32)), 'this list'],
    ['a changed nonce', flip(0), key, 'this list'],
    ['a changed tag', flip(12), key, 'this list'],
    ['changed content', flip(30), key, 'this list'],
    ['a truncated cursor', sealed.slice(0, 50), key, 'this list'],
    ['a cursor that is too long', sealed.repeat(100), key, 'this list'],
  ])('refuses an invalid cursor with the same error: %s', (_, text, withKey, binding) => {
    const problem = problemOf(() => openCursor(text, withKey, binding));
    expect(problem.code).toBe('REQUEST_CURSOR');
    expect(problem.detail).toBe(problemOf(() => openCursor('x', key, 'this list')).detail);
  });
});
