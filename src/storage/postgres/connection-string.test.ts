import { describe, expect, it } from 'vitest';
import { SetupError } from '../../errors.ts';
import { parsePostgresUrl, toDisplayUrl } from './connection-string.ts';

const PLAIN = 'postgres://ann:secret@db.example.com:6543/news';

describe('connection strings', () => {
  it.each([
    [
      PLAIN,
      {
        ...{ host: 'db.example.com', port: 6543, user: 'ann', password: 'secret', database: 'news', ssl: false },
        ...{ schema: undefined, applicationName: 'bailiwick' },
      },
    ],
    ['postgresql://ann@[::1]/news', { host: '::1', port: 5432, password: undefined }],
    ['postgres://a%40b:p%3A%2F%25@db/n%20s', { user: 'a@b', password: 'p:/%', database: 'n s' }],
    ['postgres://%2Fvar%2Frun%2Fpostgresql/news?user=ann', { host: '/var/run/postgresql', user: 'ann' }],
    ['postgres:///news?host=/tmp&user=ann', { host: '/tmp', user: 'ann' }],
    [`${PLAIN}?schema=desk&application_name=one`, { schema: 'desk', applicationName: 'one' }],
    [`${PLAIN}?sslmode=require`, { ssl: { rejectUnauthorized: false } }],
    [`${PLAIN}?sslmode=verify-full`, { ssl: { rejectUnauthorized: true } }],
    [`${PLAIN}?sslmode=verify-ca`, { ssl: { rejectUnauthorized: true, checkServerIdentity: expect.any(Function) } }],
  ])('parses the connection string %s', (url, expected) => {
    expect(parsePostgresUrl(url)).toMatchObject(expected);
  });

  it('verifies the host name of the certificate only with sslmode=verify-full', () => {
    expect(parsePostgresUrl(`${PLAIN}?sslmode=verify-full`).ssl).not.toHaveProperty('checkServerIdentity');
  });

  it.each([
    ['postgres://', [/name of a database/, /name of a user/]],
    ['postgres://ann@db', [/name of a database/]],
    ['postgres://db/news', [/name of a user/]],
    [`${PLAIN}?sslmod=require`, [/"sslmod".*"sslmode"/]],
    [`${PLAIN}?sslmode=prefer`, [/^sslmode: .*"prefer"/]],
    [`${PLAIN}?schema=a"b`, [/^schema: /]],
    [`${PLAIN}?schema=&options=-c`, [/"options"/, /^schema: /]],
  ])('refuses the connection string %s', (url, mistakes) => {
    const refusal = refused(url);
    expect(refusal.mistakes).toEqual(mistakes.map((mistake) => expect.stringMatching(mistake)));
    expect(`${refusal.message} ${refusal.mistakes.join(' ')}`).not.toContain('secret');
  });

  it('refuses a connection string with a % that is not an escape', () => {
    const { message } = refused('postgres://ann:100%secret@db.example.com/news');
    expect(message).toContain('%25');
  });

  it('names a certificate file that cannot be read in the error', () => {
    expect(refused(`${PLAIN}?sslmode=verify-full&sslrootcert=/none/ca.pem`).message).toContain('/none/ca.pem');
  });

  it('displays a connection string without its password', () => {
    expect(toDisplayUrl(parsePostgresUrl(PLAIN))).toBe('postgres://ann@db.example.com:6543/news');
  });
});

function refused(url: string): SetupError {
  try {
    parsePostgresUrl(url);
  } catch (error) {
    if (error instanceof SetupError) return error;
  }
  throw new Error(`${url} was expected to be refused`);
}
