import { describe, expect, it } from 'vitest';
import { parseForeignReference } from './foreign-reference.ts';

describe('parseForeignReference', () => {
  it.each([
    ['$user.id', 'user.id'],
    ['{{user.id}}', 'user.id'],
    ['{{ user.department }}', 'user.department'],
    ['@request.auth.id', 'user.id'],
    ['@request.auth.department', 'user.department'],
    ['request.auth.uid', 'user.id'],
    ['auth.uid()', 'user.id'],
    ['$CURRENT_USER', 'user.id'],
    ['$CURRENT_USER.department', 'user.department'],
    ['$CURRENT_ROLE', 'user.role'],
    ['$NOW', 'environment.timestamp'],
    ['X-Hasura-User-Id', 'user.id'],
    ['#{user.id}', 'user.id'],
    ['$(user.id)', 'user.id'],
    [':user.id', 'user.id'],
    ['%user.id%', 'user.id'],
    ['{user.id}', 'user.id'],
    ['<%= user.id %>', 'user.id'],
    ['$record.ownerId', 'resource.ownerId'],
    ['owner-{{user.id}}', 'user.id'],
  ])('reads %s as the path %s', (text, path) => {
    expect(parseForeignReference(text)).toBe(path);
  });

  it.each([
    '',
    'user.id',
    'user.created',
    '$5',
    '$',
    '@ann',
    '#42',
    '{{}}',
    '{{x.y}}',
    `\${user.id}`,
    '@user',
    '$user.',
    `$${'user.'.repeat(80)}id`,
  ])('reads %s as a text', (text) => {
    expect(parseForeignReference(text)).toBeUndefined();
  });
});
