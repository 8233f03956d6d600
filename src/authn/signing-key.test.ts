import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, describe, expect, it } from 'vitest';
import { SetupError } from '../errors.ts';
import { deriveKey, loadTokenKey, type TokenKey } from './signing-key.ts';

const SECRET = 'a secret of at least thirty-two bytes';

const made: string[] = [];

/** A folder that does not exist yet. */
function newFolder(): string {
  const parent = mkdtempSync(join(tmpdir(), 'bailiwick-key-'));
  made.push(parent);
  return join(parent, 'data');
}

afterEach(() => {
  for (const parent of made.splice(0)) rmSync(parent, { recursive: true });
});

describe('loadTokenKey', () => {
  it.each([
    ['HS256', 'jwt.key'],
    ['EdDSA', 'jwt.ed25519.pem'],
  ] as const)('generates a key for %s once, readable for the owner alone, and writes no other file', (algorithm, file) => {
    const dataFolder = newFolder();
    const first = loadTokenKey({ algorithm, dataFolder });
    const second = loadTokenKey({ algorithm, dataFolder });
    expect(second.signing.equals(first.signing)).toBe(true);
    expect(statSync(join(dataFolder, file)).mode & 0o777).toBe(0o600);
    expect(readdirSync(dataFolder)).toEqual([file]);
  });

  it('loadTokenKey returns the same key in processes that start at the same time', async () => {
    const dataFolder = newFolder();
    const script = `import { loadTokenKey } from ${JSON.stringify(new URL('./signing-key.ts', import.meta.url).href)};
      process.stdout.write(loadTokenKey({ algorithm: 'HS256', dataFolder: ${JSON.stringify(dataFolder)} }).signing.export().toString('hex'));`;
    const start = (): Promise<{ stdout: string }> => promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script]);
    const keys = await Promise.all([start(), start(), start(), start()]);
    expect(new Set(keys.map(({ stdout }) => stdout)).size).toBe(1);
    expect(keys[0]?.stdout).toMatch(/^[0-9a-f]{64}$/);
  });

  it('loadTokenKey uses a given secret and writes no file', () => {
    const dataFolder = newFolder();
    const key = loadTokenKey({ algorithm: 'HS256', secret: SECRET, dataFolder });
    expect(key.signing.export().toString()).toBe(SECRET);
    expect(() => readdirSync(dataFolder)).toThrow();
  });

  it('counts the length of a secret in bytes', () => {
    expect(() => loadTokenKey({ algorithm: 'HS256', secret: 'é'.repeat(16), dataFolder: newFolder() })).not.toThrow();
    expect(() => loadTokenKey({ algorithm: 'HS256', secret: 'e'.repeat(31), dataFolder: newFolder() })).toThrow(/\b31$/);
  });

  it('refuses a secret for EdDSA, which would not use it', () => {
    expect(() => loadTokenKey({ algorithm: 'EdDSA', secret: SECRET, dataFolder: newFolder() })).toThrow(SetupError);
  });

  it.each([
    ['HS256', 'jwt.key', 'short'],
    ['EdDSA', 'jwt.ed25519.pem', 'not a key'],
  ] as const)('refuses a broken key file for %s without quoting it, and leaves it as it is', (algorithm, file, content) => {
    const dataFolder = newFolder();
    loadTokenKey({ algorithm, dataFolder });
    writeFileSync(join(dataFolder, file), content);
    const load = (): unknown => loadTokenKey({ algorithm, dataFolder });
    expect(load).toThrow(SetupError);
    expect(load).not.toThrow(content);
    expect(readFileSync(join(dataFolder, file), 'utf8')).toBe(content);
  });

  it('reports a folder that cannot be created in one sentence', () => {
    const dataFolder = newFolder();
    writeFileSync(dataFolder, 'a file where the folder should be');
    expect(() => loadTokenKey({ algorithm: 'HS256', dataFolder })).toThrow(/jwt\.key.*: expected a folder, found a file at .*/);
  });
});

describe('deriveKey', () => {
  it.each(['HS256', 'EdDSA'] as const)(
    'deriveKey returns the same key for the same %s key and purpose, and another key otherwise',
    (algorithm) => {
      const [key, other] = [newFolder(), newFolder()].map((dataFolder) => loadTokenKey({ algorithm, dataFolder }));
      if (key === undefined || other === undefined) throw new Error('two keys were loaded');
      const derived = (from: TokenKey, purpose: string) => deriveKey(from, purpose).export().toString('hex');
      expect(derived(key, 'cursor')).toBe(derived(key, 'cursor'));
      expect(derived(key, 'cursor')).toHaveLength(64);
      expect(derived(key, 'cursor')).not.toBe(derived(key, 'other'));
      expect(derived(key, 'cursor')).not.toBe(derived(other, 'cursor'));
    },
  );
});
