/** The files of the guide about pages in browsers: they compile, and the page works in a browser, with a proxy and from another origin. */
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Browser } from 'playwright-core';
import { build, createServer, preview } from 'vite';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { createProject } from '../../src/project/index.ts';
import { renderProjectTypes } from '../../src/project-documents.ts';
import { type RunningService, startService, type TestUser } from '../harness.ts';
import { createContext } from './console-browser.ts';
import { sharedBrowser } from './context-pool.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const guide = readFileSync(join(root, 'docs/guides/browser.md'), 'utf8');
const parent = mkdtempSync(join(tmpdir(), 'bailiwick-page-'));
const project = join(parent, 'notes');
const vite = { configFile: join(project, 'vite.config.ts'), root: join(project, 'web'), logLevel: 'error' } as const;
let service: RunningService;
let user: TestUser;
let browser: Browser;

/** Returns the files of the guide: blocks whose first line is a comment with their path. */
function filesOf(markdown: string): readonly (readonly [path: string, text: string])[] {
  const blocks = markdown.matchAll(/^```(?:html|ts|json)\n(?:<!--|\/\/) (\S+?)(?: -->)?\n([\s\S]*?)^```$/gm);
  return [...blocks].map(([, path = '', text = '']) => [path, text]);
}

/** Writes a package with the client of the checkout, and links the packages that the guide installs. */
function linkPackages(): void {
  const modules = join(project, 'node_modules');
  mkdirSync(join(modules, 'bailiwick'), { recursive: true });
  writeFileSync(join(modules, 'bailiwick/package.json'), JSON.stringify({ type: 'module', exports: { './client': './client/index.ts' } }));
  symlinkSync(join(root, 'client'), join(modules, 'bailiwick/client'));
  for (const name of ['vite', 'typescript']) symlinkSync(join(root, 'node_modules', name), join(modules, name));
}

beforeAll(async () => {
  await createProject({ folder: project, template: 'blank', hasExampleData: false }, { folder: join(root, 'templates'), version: '0.0.0' });
  service = await startService({ project, settings: { corsOrigins: ['localhost'] } });
  user = await service.user();
  await service.createPolicy({ role: 'user', rules: [{ resource: 'Note', action: '*' }] });
  for (const [path, text] of filesOf(guide)) {
    mkdirSync(dirname(join(project, path)), { recursive: true });
    writeFileSync(join(project, path), text.replaceAll('http://127.0.0.1:8787', service.url));
  }
  writeFileSync(join(project, 'web/bailiwick-types.ts'), await renderProjectTypes(project));
  linkPackages();
  browser = await sharedBrowser(inject('browser'));
});
afterAll(async () => {
  await service.close();
  rmSync(parent, { recursive: true });
});

/** Uses the page at an address as its user does: a log-in that is refused, a log-in, and a new note. */
async function usePage(address: string | undefined): Promise<void> {
  const context = await createContext(browser, service, {});
  const page = await context.newPage();
  await page.goto(address ?? 'expected an address');
  await page.getByLabel('Email').fill(user.email);
  await page.getByLabel('Password').fill('a wrong password');
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.getByRole('status').filter({ hasText: /\w/ }).waitFor();
  await page.getByLabel('Password').fill(user.password);
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.getByRole('button', { name: 'Add a note', disabled: false }).click();
  await page.getByRole('listitem').first().filter({ hasText: 'Groceries' }).waitFor();
  await expect.poll(() => page.getByRole('status').textContent()).toBe('');
  await context.close();
}

describe('a page in the browser', () => {
  it('the files of the guide compile', async () => {
    expect(filesOf(guide).map(([path]) => path)).toEqual(['web/index.html', 'web/main.ts', 'tsconfig.json', 'vite.config.ts']);
    const tsc = join(root, 'node_modules/typescript/bin/tsc');
    await promisify(execFile)(process.execPath, [tsc], { cwd: project }).catch(({ stdout }) => expect(stdout).toBe(''));
  });

  it('the page works through the proxy of the bundler', async () => {
    const server = await createServer({ ...vite, server: { port: 0 } });
    try {
      await server.listen();
      await usePage(server.resolvedUrls?.local[0]);
    } finally {
      await server.close();
    }
  });

  it('the built page works from another origin', async () => {
    writeFileSync(join(project, 'web/.env.production'), `VITE_API_URL=${service.url}\n`);
    await build(vite);
    const server = await preview({ ...vite, preview: { port: 0, proxy: {} } });
    try {
      await usePage(server.resolvedUrls?.local[0]);
    } finally {
      await server.close();
    }
  });
});
