import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { findBrowser } from './chromium.ts';

describe('findBrowser', () => {
  const folder = mkdtempSync(join(tmpdir(), 'bailiwick-browser-'));
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  function install(path: string): string {
    const file = join(folder, path);
    mkdirSync(join(file, '..'), { recursive: true });
    writeFileSync(file, '#!/bin/sh\n');
    chmodSync(file, 0o755);
    return file;
  }

  function search(env: Readonly<Record<string, string>>, platform = 'linux-arm64'): ReturnType<typeof findBrowser> {
    return findBrowser({ env, platform });
  }

  it('returns the browser of BAILIWICK_BROWSER before a browser on PATH', async () => {
    const own = install('own/my-chrome');
    install('bin/chromium');
    expect(await search({ BAILIWICK_BROWSER: own, PATH: join(folder, 'bin') })).toEqual({ path: own, env: {} });
  });

  it('refuses a BAILIWICK_BROWSER that does not exist', async () => {
    await expect(search({ BAILIWICK_BROWSER: join(folder, 'none') })).rejects.toThrow('which does not exist');
  });

  it.each(['chromium', 'chrome', 'google-chrome'])('returns %s of a folder of PATH', async (name) => {
    const path = install(`second/${name}`);
    expect(await search({ PATH: ['', join(folder, 'first'), join(folder, 'second')].join(delimiter) })).toEqual({ path, env: {} });
  });

  it('prefers Chromium to Chrome, in any order of the folders of PATH', async () => {
    install('first/google-chrome');
    const path = install('second/chromium');
    expect(await search({ PATH: ['first', 'second'].map((each) => join(folder, each)).join(delimiter) })).toEqual({ path, env: {} });
  });

  it('returns undefined on a platform without a browser and without a package', async () => {
    expect(await search({ BAILIWICK_BROWSER: '', PATH: join(folder, 'empty') })).toBeUndefined();
  });

  describe.runIf(process.platform === 'linux' && process.arch === 'x64')('on Linux', () => {
    const packaged = expect.stringContaining('node_modules/.cache/bailiwick-chromium');

    it('returns the Chromium of the npm package on a Linux machine without a browser', async () => {
      const found = await search({ PATH: join(folder, 'empty') }, 'linux-x64');
      expect(found?.path).toEqual(packaged);
      expect(Object.keys(found?.env ?? {})).toEqual(['LD_LIBRARY_PATH', 'FONTCONFIG_FILE']);
    });

    it('prefers the Chromium of the npm package only if the search does', async () => {
      const path = install('bin/chromium');
      const given = { env: { PATH: join(folder, 'bin') }, platform: 'linux-x64' };
      expect(await findBrowser(given)).toEqual({ path, env: {} });
      expect(await findBrowser({ ...given, prefers: 'package' })).toMatchObject({ path: packaged });
      expect(await findBrowser({ ...given, prefers: 'package', platform: 'linux-arm64' })).toEqual({ path, env: {} });
    });
  });
});
