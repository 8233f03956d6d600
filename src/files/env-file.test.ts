import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { SetupError } from '../errors.ts';
import { readEnvFile } from './env-file.ts';

function createFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'bailiwick-env-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

describe('readEnvFile', () => {
  it('reads the variables of the service, and leaves those of other programs', () => {
    const folder = createFolder();
    writeFileSync(
      join(folder, '.env'),
      '# settings\nBAILIWICK_PORT=9000\nPORT=3000\nexport BAILIWICK_HOST="0.0.0.0" # all\nMY_BAILIWICK_X=1\n',
    );
    expect(readEnvFile(folder)).toEqual({ BAILIWICK_PORT: '9000', BAILIWICK_HOST: '0.0.0.0' });
  });

  it.each([
    'BAILIWICK_SETUP token',
    'BAILIWICK_SETUP: token',
    'export BAILIWICK_SETUP',
    ' BAILIWICK_',
    'export\tBAILIWICK_AUTH=on',
    '\u00a0BAILIWICK_AUTH=on',
  ])('refuses the line %j', (line) => {
    const folder = createFolder();
    writeFileSync(join(folder, '.env'), `PORT 3000\nBAILIWICK_PORT = 9000\n${line}\n`);
    expect(() => readEnvFile(folder)).toThrow(`${join(folder, '.env')}:3: expected NAME=value`);
  });

  it('reads a file with a byte order mark, and texts of other programs with several lines', () => {
    const folder = createFolder();
    writeFileSync(join(folder, '.env'), '\uFEFFBAILIWICK_PORT=9000\nNOTES="\nBAILIWICK_PORT is the port\n"\n');
    expect(readEnvFile(folder)).toEqual({ BAILIWICK_PORT: '9000' });
  });

  it('returns nothing for a folder without the file, and for a folder that does not exist or is a file', () => {
    const folder = createFolder();
    writeFileSync(join(folder, 'file'), '');
    expect(['.', 'absent', 'file'].map((name) => readEnvFile(join(folder, name)))).toEqual([{}, {}, {}]);
  });

  it.each([
    { name: 'a folder', make: (path: string) => mkdirSync(path) },
    { name: 'a link to nothing', make: (path: string) => symlinkSync('absent', path) },
    { name: 'a device', make: (path: string) => symlinkSync('/dev/zero', path) },
    { name: 'a file that is too large', make: (path: string) => writeFileSync(path, `BAILIWICK_PORT=1\n${'#'.repeat(70_000)}`) },
  ])('refuses $name in place of the file', ({ make }) => {
    const folder = createFolder();
    make(join(folder, '.env'));
    expect(() => readEnvFile(folder)).toThrow(SetupError);
  });
});
