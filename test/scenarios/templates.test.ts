/** The templates of `bailiwick init`: each is a project without a finding, whose tests pass and whose example data shows a denial. */
import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PROJECT_TEMPLATES } from '../../src/cli/init.ts';
import { parseConfig } from '../../src/config/config.ts';
import { checkProject, lintPolicies, readPolicies } from '../../src/policy-file-commands.ts';
import { createProject } from '../../src/project/create-project.ts';
import { type RunningService, startService } from '../harness.ts';

const run = promisify(execFile);
const parent = mkdtempSync(join(tmpdir(), 'bailiwick-templates-'));
afterAll(() => rmSync(parent, { recursive: true }));

/** A schema that a file of a template names: a file of the package, as it is installed below the project. */
const SCHEMA = /node_modules\/bailiwick\/(docs\/[\w./-]+\.schema\.json)/g;

describe.each([...PROJECT_TEMPLATES.keys()])('the template %s', (template) => {
  const folder = join(parent, template);
  const config = parseConfig({ flags: { project: folder } });
  let files: readonly string[];
  let service: RunningService;
  beforeAll(async () => {
    ({ files } = createProject({ folder, template, hasExampleData: true }, { folder: 'templates', version: '0.0.0' }));
    service = await startService({ project: folder, isDevelopment: true });
  });
  afterAll(() => service.close());

  it(`the template ${template} passes its checks without a finding, and every rule decides a case`, async () => {
    const { isValid, lines } = await checkProject(config);
    expect(isValid, lines.join('\n')).toBe(true);
    expect(lines, 'findings and rules without a case have lines of their own').toHaveLength(2);
    expect(lines[1]).toMatch(/^\d{2,} passed, 0 failed/);
    expect((await lintPolicies(config)).lines).toEqual([]);
  });

  it(`the files of the template ${template} name schemas that the package contains`, () => {
    const yaml = files.filter((path) => /^(resources|policies)\//.test(path));
    for (const path of [...yaml, '.vscode/settings.json']) {
      const named = [...readFileSync(join(folder, path), 'utf8').matchAll(SCHEMA)].map(([, schema = '']) => schema);
      expect(named.length, path).toBeGreaterThan(0);
      expect(
        named.filter((schema) => !existsSync(schema)),
        path,
      ).toEqual([]);
    }
  });

  it(`the guide of the template ${template} names commands and files that exist`, () => {
    const readme = readFileSync(join(folder, 'README.md'), 'utf8');
    const { scripts } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    for (const [, script = ''] of readme.matchAll(/npm run ([\w-]+)/g)) expect(Object.keys(scripts)).toContain(script);
    for (const [, path = ''] of readme.matchAll(/`((?:policies|resources|example-data)\/[\w./-]*)`/g))
      expect(existsSync(join(folder, path)), path).toBe(true);
    expect(readme).not.toContain('{{');
  });

  it(`a service accepts the policies of the template ${template} without a finding, and its example data shows a denial`, async () => {
    const { email, password, token } = await service.admin();
    const env = { BAILIWICK_URL: service.url, ADMIN_EMAIL: email, ADMIN_PASSWORD: password };
    const load = () => run(process.execPath, ['example-data/load.mjs'], { cwd: folder, env });
    // Without the policies, nothing is created, so the script can be run again.
    await expect(load()).rejects.toMatchObject({ code: 1, stderr: expect.stringContaining('apply the policies first') });
    const body = { policies: readPolicies(config).map(({ policy }) => policy) };
    expect((await service.call('POST', '/admin/api/policies/import', { token, body })).status).toBe(200);
    expect((await service.call('GET', '/admin/api/policies-advice', { token })).at('data')).toEqual([]);
    const { stdout } = await load();
    const { title } = JSON.parse(readFileSync(join(folder, 'example-data/records.json'), 'utf8')).denial;
    const [, id = ''] = /explanation {2}\S+\/console\/decisions\/([\w-]+)\n/.exec(stdout) ?? [];
    expect(stdout).toContain(`${title}: denied`);
    const explained = await service.call('GET', `/admin/api/decisions/${id}`, { token });
    expect([explained.at('data.allowed'), explained.at('data.action')]).toEqual([false, expect.stringMatching(/^(read|update)$/)]);
    await expect(load()).rejects.toMatchObject({ code: 1, stderr: expect.stringContaining('exist already') });
  });

  it.runIf(template === 'blank')(
    'the example data reads an email and a password that are pasted together, and hides the password',
    async () => {
      const { email, password } = await service.admin();
      const args = ['--import', 'data:text/javascript,process.stdin.isTTY=true', 'example-data/load.mjs'];
      const loading = run(process.execPath, args, { cwd: folder, env: { BAILIWICK_URL: service.url } });
      loading.child.stdin?.end(`${email}\n${password}\n`);
      const { stdout, stderr } = await loading.catch((error) => error);
      expect(stderr, 'the step after the login').toMatch(/apply the policies first|exist already/);
      expect(stdout).toContain(email);
      expect(stdout).not.toContain(password);
    },
  );

  it(`the container of the template ${template} has the folders of the project`, () => {
    const dockerfile = readFileSync(join(folder, 'Dockerfile'), 'utf8');
    const ignored = readFileSync(join(folder, '.dockerignore'), 'utf8');
    for (const name of ['package.json', 'resources', 'policies'])
      expect([dockerfile, ignored].every((text) => text.includes(name))).toBe(true);
    expect(readdirSync(folder)).toEqual(expect.arrayContaining(['compose.yaml', 'policies', 'resources']));
  });
});
