/** The example projects of published authorization models: their policy tests pass, and a service accepts their policies without a finding. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseConfig } from '../../src/config/config.ts';
import { readPolicies, testPolicies } from '../../src/policy-file-operations.ts';
import { type RunningService, startService } from '../harness.ts';

const FOLDER = 'examples/models';
const NAMES = readdirSync(FOLDER).filter((name) => !name.includes('.'));

const configOf = (name: string) => parseConfig({ flags: { project: `${FOLDER}/${name}` }, env: {} });

/** The files of the guide, by the path in their first line. */
const guided = [...readFileSync('docs/guides/policy-files.md', 'utf8').matchAll(/^```yaml\n# (policies\/\S+)\n([\s\S]*?)^```$/gm)];

describe('the guide of policies in files', () => {
  it('the policies of the guide pass their tests', async () => {
    const project = mkdtempSync(join(tmpdir(), 'bailiwick-guide-'));
    for (const folder of ['resources', 'policies']) mkdirSync(join(project, folder));
    writeFileSync(join(project, 'resources/Article.yaml'), ARTICLE);
    for (const [, file = '', text = ''] of guided) writeFileSync(join(project, file), text);
    const { cases, failed, lines } = await testPolicies(parseConfig({ flags: { project }, env: {} }));
    rmSync(project, { recursive: true });
    expect(failed, lines.join('\n')).toBe(0);
    expect([guided.length, cases]).toEqual([2, 27]);
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
