import { describe, expect, it } from 'vitest';
import { Problem, SetupError } from '../errors.ts';
import { describeFailure } from './command-errors.ts';

describe('describeFailure', () => {
  const known: readonly [object, string][] = [
    [{ code: 'EADDRNOTAVAIL', address: '203.0.113.7', port: 80 }, 'this machine has no address 203.0.113.7; give another with --host'],
    [{ code: 'ENOTFOUND', hostname: 'nowhere' }, 'there is no host "nowhere"; give another with --host'],
    [{ code: 'EACCES', address: '127.0.0.1', port: 80 }, 'may not listen on port 80'],
    [{ code: 'EACCES', path: '/data' }, 'may not use /data: permission denied'],
    [{ code: 'EROFS', path: '/data' }, 'cannot write /data: the file system is read-only'],
    [{ code: 'ENOENT', path: 'resources' }, 'there is no resources'],
  ];
  it.each(known)('puts %j in words that the user can act on', (members, message) => {
    const error = Object.assign(new Error('driver text'), { syscall: 'any' }, members);
    expect(describeFailure(error)).toEqual({ message, mistakes: [], exitCode: 2 });
  });

  it('passes on what a setup error says', () => {
    expect(describeFailure(new SetupError('no', ['a', 'b']))).toEqual({ message: 'no', mistakes: ['a', 'b'], exitCode: 2 });
  });

  it('says a mistake once that is all there is to say', () => {
    const errors = [{ path: 'sort.x', code: 'field', detail: 'no field "x"' }];
    expect(describeFailure(new Problem('REQUEST_FIELD', 'sort.x: no field "x"', { errors })).mistakes).toEqual([]);
    expect(describeFailure(new Problem('REQUEST_FIELD', '2 mistakes', { errors })).mistakes).toEqual(['sort.x: no field "x"']);
  });

  it('says in words what the database cannot do for now', () => {
    const busy = new Problem('STORAGE_BUSY', 'the database is locked by another process');
    expect(describeFailure(busy)).toEqual({ message: 'the database is locked by another process', mistakes: [], exitCode: 2 });
    const full = new Problem('STORAGE_UNAVAILABLE', 'the database could not commit', { cause: new Error('database or disk is full') });
    expect(describeFailure(full)).toEqual({
      message: 'the database could not commit',
      mistakes: ['database or disk is full'],
      exitCode: 2,
    });
  });

  const faults: readonly [string, unknown][] = [
    ['an error of ours', new TypeError('oh')],
    ['a module that is missing', Object.assign(new Error('oh'), { code: 'ENOENT' })],
    ['a thrown text', 'oh'],
  ];
  it.each(faults)('calls %s a fault of the program', (_, error) => {
    expect(describeFailure(error)).toMatchObject({ message: expect.stringContaining('fault of the program'), exitCode: 1 });
  });
});
