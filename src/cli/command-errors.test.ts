import { describe, expect, it } from 'vitest';
import { Problem, SetupError } from '../errors.ts';
import { describeFailure } from './command-errors.ts';

describe('describeFailure', () => {
  const known: readonly [object, string][] = [
    [{ code: 'EADDRNOTAVAIL', address: '203.0.113.7', port: 80 }, 'this machine has no address 203.0.113.7; give another with --host'],
    [{ code: 'ENOTFOUND', hostname: 'nowhere' }, 'host "nowhere" not found; give another with --host'],
    [{ code: 'EACCES', address: '127.0.0.1', port: 80 }, 'cannot listen on port 80: permission denied'],
    [{ code: 'EACCES', path: '/data' }, 'cannot access /data: permission denied'],
    [{ code: 'EROFS', path: '/data' }, 'cannot write /data: the file system is read-only'],
    [{ code: 'ENOSPC', path: '/data' }, 'cannot write /data: no space left'],
    [{ code: 'ENOSPC' }, 'cannot write: no space left'],
    [{ code: 'EROFS' }, 'cannot write: the file system is read-only'],
    [{ code: 'EACCES' }, 'cannot access: permission denied'],
    [{ code: 'EPERM' }, 'cannot access: not permitted'],
    [{ code: 'EISDIR', path: '/data' }, 'expected a file, found a folder in /data'],
    [{ code: 'EISDIR', path: '/data.part', dest: '/data' }, 'expected a file, found a folder in /data'],
    [{ code: 'EISDIR' }, 'expected a file, found a folder'],
    [{ code: 'ENAMETOOLONG', path: '/data/aaa' }, 'the name /data/aaa is too long'],
    [{ code: 'ENOENT', path: 'resources' }, 'resources does not exist'],
    [{ code: 'ELOOP', path: 'policies/loop.yaml' }, 'cannot open policies/loop.yaml: its symbolic links form a loop'],
    [
      { code: 'EINVAL', address: 'fe80::1', port: 80 },
      'cannot listen on address fe80::1; give another with --host (a link-local address needs its interface: fe80::1%eth0)',
    ],
  ];
  it.each(known)('describes the error %j', (members, message) => {
    const error = Object.assign(new Error('driver text'), { syscall: 'any' }, members);
    expect(describeFailure(error)).toEqual({ message, mistakes: [], exitCode: 2 });
  });

  it('returns message and mistakes of a SetupError', () => {
    expect(describeFailure(new SetupError('no', ['a', 'b']))).toEqual({ message: 'no', mistakes: ['a', 'b'], exitCode: 2 });
  });

  it('omits a single mistake that equals the message', () => {
    const errors = [{ path: 'sort.x', code: 'field' as const, detail: 'no field "x"' }];
    expect(describeFailure(new Problem('REQUEST_FIELD', 'sort.x: no field "x"', { errors })).mistakes).toEqual([]);
    expect(describeFailure(new Problem('REQUEST_FIELD', '2 mistakes', { errors })).mistakes).toEqual(['sort.x: no field "x"']);
  });

  it('names the flag of a user who is not an admin', () => {
    expect(describeFailure(new Problem('ACCESS_ADMIN', 'role user is not admin')).message).toMatch(/^--as: .*: role user is not admin$/);
  });

  it('returns the detail of a storage error, with its cause', () => {
    const busy = new Problem('STORAGE_BUSY', 'the database is locked by another process');
    expect(describeFailure(busy)).toEqual({ message: 'the database is locked by another process', mistakes: [], exitCode: 2 });
    const full = new Problem('STORAGE_UNAVAILABLE', 'the database could not commit', { cause: new Error('database or disk is full') });
    expect(describeFailure(full)).toEqual({
      message: 'the database could not commit',
      mistakes: ['database or disk is full'],
      exitCode: 2,
    });
  });

  it('says what to do if the disk of a SQLite database is full', () => {
    const cause = Object.assign(new Error('database or disk is full'), { code: 'SQLITE_FULL' });
    expect(describeFailure(new Problem('STORAGE_UNAVAILABLE', 'the database could not commit', { cause })).mistakes).toEqual([
      'database or disk is full',
      'free space on the disk of the data folder, or of the file in --database, and run the command again',
    ]);
  });

  it('returns the detail of a damaged row with the row and the command that lists it, and no stack', () => {
    const cause = new Problem('STORAGE_DAMAGED', 'row u1 of User is damaged: its checksum does not match its content');
    const hidden = new Problem('STORAGE_DAMAGED', 'a User record is damaged', { cause });
    const hint = expect.stringContaining('bailiwick verify');
    expect(describeFailure(hidden)).toEqual({ message: 'a User record is damaged', mistakes: [cause.detail, hint], exitCode: 1 });
    expect(describeFailure(cause)).toEqual({ message: cause.detail, mistakes: [hint], exitCode: 1 });
  });

  const faults: readonly [string, unknown][] = [
    ['a TypeError', new TypeError('oh')],
    ['an invalid argument of another system call', Object.assign(new Error('oh'), { code: 'EINVAL', syscall: 'read' })],
    ['a missing module', Object.assign(new Error('oh'), { code: 'ENOENT' })],
    ['a thrown string', 'oh'],
  ];
  it.each(faults)('reports %s as an internal error', (_, error) => {
    expect(describeFailure(error)).toMatchObject({ message: expect.stringContaining('internal error'), exitCode: 1 });
  });
});
