import { createSecretKey, type KeyObject, randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { problemOf } from '../../resources/article.fixture.ts';
import { openCursor, sealCursor } from './cursor-text.ts';

const [encryption, signature, other] = [randomBytes(32), randomBytes(32), randomBytes(32)].map((key) => createSecretKey(key)) as [
  KeyObject,
  KeyObject,
  KeyObject,
];
const keys = { encryption, signature };
const scope = { keys, binding: 'this list' };
const sort = [{ field: { name: 'title' }, descending: false }] as unknown as Parameters<typeof sealCursor>[2]['sort'];
const shown = { id: 'abc', title: 'a title', body: null };
const position = { id: 'abc', keys: ['a title'] };

/** Returns the text with one bit of a byte changed, of the whole text or of its part behind the separator. */
function flip(text: string, index: number): string {
  const [content = '', signature] = text.split('.');
  const bytes = Buffer.from(signature ?? content, 'base64url');
  bytes[index] = (bytes[index] ?? 0) ^ 1;
  const changed = bytes.toString('base64url');
  return signature === undefined ? changed : `${content}.${changed}`;
}

describe('a cursor of values that the page shows', () => {
  const signed = sealCursor(position, scope, { record: shown, sort });

  it('opens a signed cursor to its position', () => {
    expect(openCursor(signed, scope)).toEqual(position);
  });

  it('signs the cursor and does not encrypt it', () => {
    expect(JSON.parse(Buffer.from(signed.split('.')[0] ?? '', 'base64url').toString())).toEqual(position);
  });

  it.each([
    ['of another list', signed, { keys, binding: 'that list' }],
    ['of another key', signed, { keys: { encryption, signature: other }, binding: 'this list' }],
    ['with another content', `${Buffer.from('{"id":"abd"}').toString('base64url')}.${signed.split('.')[1]}`, scope],
    ['with another signature', flip(signed, 5), scope],
    ['with a longer signature', `${signed}AA`, scope],
    ['with a part more', `${signed}.`, scope],
    ['without a signature', signed.replace(/\..*/, '.'), scope],
    ['without a separator', signed.replace('.', ''), scope],
  ])('refuses a signed cursor %s', (_, text, within) => expectRefused(() => openCursor(text, within)));
});

describe('a cursor of values that the page does not show', () => {
  const sealed = sealCursor(position, scope, { record: undefined, sort });
  const isEncrypted = (text: string): boolean => !text.includes('.') && !Buffer.from(text, 'base64url').includes('abc');

  it('opens an encrypted cursor to its position', () => {
    expect(openCursor(sealed, scope)).toEqual(position);
  });

  it('returns another text each time', () => {
    expect(sealCursor(position, scope, { record: undefined, sort })).not.toBe(sealed);
  });

  it.each([
    ['the page has no records', position, undefined],
    ['the last record is another one', { id: 'abcd', keys: ['a title'] }, shown],
    ['the last record has another value', { id: 'abc', keys: ['b title'] }, shown],
    ['the page does not show the sort field', position, { id: 'abc', body: null }],
    ['the page does not show that the sort field has no value', { id: 'abc', keys: [null] }, { id: 'abc', body: null }],
    ['the position has a digest of sort values', { id: 'abc', digest: 'x' }, shown],
    ['the position has a remaining offset', { ...position, skip: 3 }, shown],
    ['the position has a value without a sort key', { id: 'abc', keys: ['a title', 'more'] }, shown],
  ])('encrypts a cursor if %s', (_, at, record) => {
    const text = sealCursor(at, scope, { record, sort });
    expect(isEncrypted(text)).toBe(true);
    expect(openCursor(text, scope)).toEqual(at);
  });

  it.each([
    ['without content', '', scope],
    ['of something else', 'not-a-cursor', scope],
    ['of another list', sealed, { keys, binding: 'that list' }],
    ['of another key', sealed, { keys: { encryption: other, signature }, binding: 'this list' }],
    ['with another nonce', flip(sealed, 0), scope],
    ['with another tag', flip(sealed, 12), scope],
    ['with another content', flip(sealed, 30), scope],
    ['that is truncated', sealed.slice(0, 50), scope],
    ['that is too long', sealed.repeat(100), scope],
    ['that is too long, with a separator', `${sealed.repeat(100)}.${sealed}`, scope],
  ])('refuses an encrypted cursor %s', (_, text, within) => expectRefused(() => openCursor(text, within)));
});

/** Expects the same error for every cursor, so that a forger learns nothing. */
function expectRefused(open: () => unknown): void {
  const problem = problemOf(open);
  expect(problem.code).toBe('REQUEST_CURSOR');
  expect(problem.detail).toBe(problemOf(() => openCursor('x', scope)).detail);
}
