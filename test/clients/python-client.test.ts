/**
 * Types that are generated for another language work: a Python program runs against the service. Everything comes from npm:
 * quicktype generates the types, and Pyodide runs Python inside Node.js.
 */
import { readFileSync } from 'node:fs';
import { loadPyodide, type PyodideAPI } from 'pyodide';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/operators/index.ts';
import { type RunningService, startService } from '../harness.ts';
import { generatePython } from './generate-python.ts';

/** The operations that the program uses. Types for all would take ten seconds to generate. */
const OPERATIONS = [
  'auth.login',
  'Article.create',
  'Article.update',
  'Article.delete',
  'Article.action.list',
  'Article.action.createIfNotExists',
  'batch.run',
  'admin.policies.create',
  'admin.tests.access',
  'admin.decisions.list',
];

let service: RunningService;
let python: PyodideAPI;

beforeAll(async () => {
  service = await startService({ project: 'examples/newsroom' });
  const document = (await service.call('GET', '/openapi.json', { token: (await service.admin()).token })).body as JsonObject;
  const generated = await generatePython(document, OPERATIONS);
  python = await loadPyodide();
  python.FS.mkdir('dateutil');
  for (const path of ['dateutil/parser.py', 'newsroom_client.py'])
    python.FS.writeFile(path, readFileSync(new URL(path, import.meta.url), 'utf8'));
  python.FS.writeFile('newsroom.py', generated);
});
afterAll(() => service.close());

describe('a Python program with generated types', () => {
  it('a Python program with generated types runs against the service', async () => {
    const { email, password } = await service.admin();
    const { main } = python.pyimport('newsroom_client');
    await expect(main(service.url, email, password)).resolves.toBeUndefined();
    const { token } = await service.admin();
    expect((await service.call('GET', '/api/Article', { token })).at('count')).toBe(6);
  });
});
