/** For the tests of this folder: a project folder with policies and tests. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LIMITS } from '../../test/policy-fixtures.ts';
import type { Definitions, Mistake } from '../resources/index.ts';
import { printMistake } from '../resources/index.ts';
import { composeDefinitions } from '../resources/system/index.ts';
import { loadPolicyFiles } from './load-policy-files.ts';
import { loadPolicyTests } from './load-policy-tests.ts';
import type { TestRun } from './policy-test.ts';
import { runPolicyTests } from './run-policy-tests.ts';

const locate = () => ({ line: 1, column: 1 });
const NONE: ReadonlySet<string> = new Set();

/** The definitions of the tests: articles with an author and reviewers, and pages with soft deletes. */
export const DEFINITIONS: Definitions = composeDefinitions(
  [
    {
      name: 'Article',
      fields: {
        title: { type: 'string', required: true, minLength: 3 },
        body: { type: 'text', renamedFrom: 'content' },
        authorId: { type: 'reference', to: 'User', onDelete: 'restrict' },
        reviewerIds: { type: 'list', of: { type: 'reference', to: 'User' } },
        status: { type: 'enum', values: ['draft', 'published'], default: 'draft' },
        secret: { type: 'string', writeOnly: true },
      },
    },
    { name: 'Page', softDelete: true, fields: { title: { type: 'string' } } },
  ].map((source) => ({ file: `resources/${source.name}.yaml`, source, locate })),
).definitions;

/** Writes files to a folder, calls `use`, and deletes the folder. */
export async function withFolder<T>(files: Readonly<Record<string, string>>, use: (folder: string) => T | Promise<T>): Promise<T> {
  const project = mkdtempSync(join(tmpdir(), 'bailiwick-policies-'));
  const folder = join(project, 'policies');
  mkdirSync(folder);
  try {
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
    return await use(folder);
  } finally {
    rmSync(project, { recursive: true });
  }
}

/** Returns the mistakes of the policies and tests of a folder, as printed. */
export function mistakesOf(files: Readonly<Record<string, string>>): Promise<readonly string[]> {
  return withFolder(files, (folder) => {
    const { names, mistakes } = loadPolicyFiles(folder, { definitions: DEFINITIONS, limits: LIMITS, maxItems: 100 });
    const tests = loadPolicyTests(folder, { definitions: DEFINITIONS, incomplete: NONE, policies: names });
    const all: readonly Mistake[] = [...mistakes, ...tests.mistakes];
    return all.map(printMistake);
  });
}

/** Runs the tests of files that have no mistakes. */
export function runFiles(files: Readonly<Record<string, string>>): Promise<TestRun> {
  return withFolder(files, (folder) => {
    const { policies, names, mistakes } = loadPolicyFiles(folder, { definitions: DEFINITIONS, limits: LIMITS, maxItems: 100 });
    const tests = loadPolicyTests(folder, { definitions: DEFINITIONS, incomplete: NONE, policies: names });
    const all = [...mistakes, ...tests.mistakes];
    if (all.length > 0) throw new Error(all.map(printMistake).join('\n'));
    return runPolicyTests(tests.files, { definitions: DEFINITIONS, policies, limits: LIMITS, timeZone: 'UTC' });
  });
}

/** A policy of the role `user`, and one that is assigned to no role. */
export const POLICIES = `
policies:
  - name: Authors
    type: ATTRIBUTE_BASED
    roles: [{ role: user }]
    rules:
      - { resource: Article, action: "*", description: own articles, conditions: [{ field: resource.authorId, operator: eq, value: "\${user.id}" }] }
      - { resource: Article, action: delete, effect: DENY, priority: 200, description: published articles stay, conditions: [{ field: resource.status, operator: eq, value: published }] }
  - name: Night
    type: ATTRIBUTE_BASED
    rules:
      - { resource: Article, action: read, effect: DENY, priority: 300, description: not at night, conditions: [{ field: environment.hour, operator: lt, value: 6 }] }
`;
