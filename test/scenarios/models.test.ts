/** The example projects of published authorization models, and the policies of guides: their policy tests pass, and a service accepts the examples without a finding. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { parseConfig } from '../../src/config/config.ts';
import { readPolicies, testPolicies } from '../../src/policy-file-commands.ts';
import { type RunningService, startService } from '../harness.ts';

const FOLDER = 'examples/models';
const NAMES = readdirSync(FOLDER).filter((name) => !name.includes('.'));

const configOf = (name: string) => parseConfig({ flags: { project: `${FOLDER}/${name}` }, env: {} });

describe('the guide of policies in files', () => {
  it('the policies of the guide pass their tests', async () => {
    const guided = filesOf('docs/guides/policy-files.md');
    const { cases, failed, lines } = await testFiles([['resources/Article.yaml', ARTICLE], ...guided]);
    expect(failed, lines.join('\n')).toBe(0);
    expect([guided.length, cases]).toEqual([2, 30]);
  });
});

/** Returns the files of a page, by the path in their first line. */
function filesOf(page: string): readonly (readonly [path: string, text: string])[] {
  const blocks = readFileSync(page, 'utf8').matchAll(/^```yaml\n# ((?:policies|resources)\/\S+)\n([\s\S]*?)^```$/gm);
  return [...blocks].map(([, path = '', text = '']) => [path, text]);
}

/** Tests the policies of a project with these files. */
async function testFiles(files: ReturnType<typeof filesOf>): Promise<Awaited<ReturnType<typeof testPolicies>>> {
  const project = mkdtempSync(join(tmpdir(), 'bailiwick-guide-'));
  for (const folder of ['resources', 'policies']) mkdirSync(join(project, folder));
  for (const [path, text] of files) writeFileSync(join(project, path), text);
  return testPolicies(parseConfig({ flags: { project }, env: {} })).finally(() => rmSync(project, { recursive: true }));
}

describe('the pages for users of other systems', () => {
  const folder = 'docs/coming-from';
  const pages = readdirSync(folder).filter((name) => name !== 'README.md');

  it.each(pages)('the policies of %s pass the tests that all of these pages share, and every rule decides a case', async (page) => {
    const { failed, lines } = await testFiles([...filesOf(`${folder}/README.md`), ...filesOf(`${folder}/${page}`)]);
    expect(failed, lines.join('\n')).toBe(0);
    expect(lines, 'rules without a case are printed before the summary').toHaveLength(1);
  });
});

const ARTICLE = `
name: Article
fields:
  title:    { type: string, required: true }
  status:   { type: enum, values: [draft, published], default: draft }
  authorId: { type: reference, to: User, onDelete: restrict }
`;

describe('the example models', () => {
  it.each(NAMES)('the guide shows the rule of the model %s, in at most ten lines', (name) => {
    const guide = readFileSync('docs/guides/models.md', 'utf8');
    const section = guide.split(/^## /m).find((each) => each.includes(`\`${FOLDER}/${name}\``)) ?? '';
    const [, block = ''] = /^```yaml\n([\s\S]*?)^```$/m.exec(section) ?? [];
    const policies = readdirSync(`${FOLDER}/${name}/policies`).filter((file) => !file.endsWith('.test.yaml'));
    const rules = policies.flatMap((file) => parse(readFileSync(`${FOLDER}/${name}/policies/${file}`, 'utf8')).rules as object[]);
    const shown = parse(block) as readonly object[];
    expect(shown.length).toBeGreaterThan(0);
    for (const rule of shown) expect(rules).toContainEqual(expect.objectContaining(rule));
    expect(block.trimEnd().split('\n').length).toBeLessThanOrEqual(10);
  });

  it('the guide names each example model', () => {
    const guide = readFileSync('docs/guides/models.md', 'utf8');
    expect([...guide.matchAll(/`examples\/models\/([a-z]+)`/g)].map(([, name]) => name).toSorted()).toEqual(NAMES);
  });

  describe.each(NAMES)('%s', (name) => {
    let service: RunningService;
    beforeAll(async () => {
      service = await startService({ project: `${FOLDER}/${name}` });
    });
    afterAll(() => service.close());

    it(`the policy tests of ${name} pass, and every rule decides a case`, async () => {
      const { failed, lines } = await testPolicies(configOf(name));
      expect(failed, lines.join('\n')).toBe(0);
      expect(lines, 'rules without a case are printed before the summary').toHaveLength(1);
    });

    it(`a service accepts the policies of ${name} without a finding`, async () => {
      const { token } = await service.admin();
      const body = { policies: readPolicies(configOf(name)).map(({ policy }) => policy) };
      expect((await service.call('POST', '/admin/api/policies/import', { token, body })).status).toBe(200);
      expect((await service.call('POST', '/admin/api/policies/import', { token, body })).at('data')).toMatchObject({
        created: 0,
        updated: 0,
      });
      expect((await service.call('GET', '/admin/api/policies-advice', { token })).at('data')).toEqual([]);
    });
  });
});
