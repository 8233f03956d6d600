import { describe, expect, it } from 'vitest';
import { createPasswords } from './passwords.ts';

describe('passwords', () => {
  it('hashes a password with argon2id at 19 MiB, differently each time', async () => {
    const passwords = createPasswords(2);
    const [one, two] = await Promise.all([passwords.hash('correct horse'), passwords.hash('correct horse')]);
    expect(one).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    expect(one).not.toBe(two);
  });

  it.each([
    ['the same password', 'correct horse', true],
    ['another password', 'correct horsf', false],
    ['an empty password', '', false],
  ])('verifies a hash with %s', async (_, plain, expected) => {
    const passwords = createPasswords(2);
    expect(await passwords.verify(await passwords.hash('correct horse'), plain)).toBe(expected);
  });

  it('refuses the password of an unknown user', async () => {
    const passwords = createPasswords(1);
    const hash = await passwords.hash('correct horse');
    expect(await Promise.all([passwords.verify(hash, 'wrong'), passwords.verify(undefined, 'wrong')])).toEqual([false, false]);
  });

  it('limits the number of waiting passwords, including passwords of unknown users', async () => {
    const passwords = createPasswords(1);
    const settled = await Promise.allSettled(Array.from({ length: 70 }, () => passwords.verify(undefined, 'x')));
    const refused = settled.filter((each) => each.status === 'rejected').map((each) => each.reason.code);
    expect(refused).toEqual(Array(5).fill('STORAGE_BUSY'));
    expect(await passwords.verify(undefined, 'x')).toBe(false);
  });
});
