/** `bailiwick init` and `bailiwick dev`, as processes: each template starts and answers, and a full disk leaves nothing behind. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { PROJECT_TEMPLATES } from '../../src/cli/init.ts';
import { isDeep } from '../budget.ts';
import { CHECKOUT, runProgram, send, setUp, startProgram } from './program.ts';

const parent = mkdtempSync(join(tmpdir(), 'bailiwick-init-'));
afterAll(() => rmSync(parent, { recursive: true }));
/** The templates that this test starts. `npm test` starts one: scenarios/templates.test.ts serves and checks all of them in its process. */
const STARTED = isDeep ? [...PROJECT_TEMPLATES.keys()] : ['multi-tenant'];
const canLimit = spawnSync('prlimit', ['--version']).status === 0;

describe('init and dev', () => {
  it.each(STARTED)('dev starts the template %s, applies and tests its policies, and answers', async (template) => {
    const project = join(parent, template);
    const { code, out } = await runProgram(['init', project, '--template', template, '--json'], {}, CHECKOUT);
    expect([code, JSON.parse(out).folder]).toEqual([0, project]);
    writeFileSync(join(project, '.env'), 'BAILIWICK_DOCS=off\n');
    const program = await startProgram({ project, data: join(project, 'data'), command: 'dev' });
    try {
      await program.prints('policies applied:');
      await program.prints(' passed, 0 failed;');
      expect(program.printed()).toMatch(/\/console\/setup#token=/);
      const token = await setUp(program.url);
      expect(await send(program.url, 'GET /api/User', { token })).toMatchObject({ status: 200 });
      expect((await fetch(`${program.url}/openapi.json`, { headers: { authorization: `Bearer ${token}` } })).status, '.env').toBe(404);
      const applied = await runProgram(['policies', 'apply', '--project', project, '--as', 'ada@example.com']);
      expect(applied, applied.err).toMatchObject({ code: 0, out: expect.stringContaining('0 created, 0 updated') });
    } finally {
      await program.stop();
    }
  });

  it('init refuses the folder of a project, and changes nothing', async () => {
    const folder = join(parent, 'twice');
    expect((await runProgram(['init', folder, '--yes'], {}, CHECKOUT)).code).toBe(0);
    writeFileSync(join(folder, 'README.md'), 'mine');
    const { code, err } = await runProgram(['init', folder, '--yes'], {}, CHECKOUT);
    expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining('is not empty') });
    expect(readFileSync(join(folder, 'README.md'), 'utf8')).toBe('mine');
  });

  it.runIf(canLimit)('init removes a folder that it cannot fill', () => {
    const folder = join(parent, 'full', 'shop');
    const limited = spawnSync('prlimit', ['--fsize=600', process.execPath, CHECKOUT, 'init', folder, '--yes'], { encoding: 'utf8' });
    expect({ status: limited.status, err: limited.stderr }).toEqual({ status: 2, err: expect.stringContaining('nothing was left behind') });
    expect(readdirSync(parent)).not.toContain('full');
  });

  it('init works in the folder of the shell', () => {
    const folder = mkdtempSync(join(parent, 'here-'));
    const out = execFileSync(process.execPath, [CHECKOUT, 'init', '.', '--json'], { cwd: folder, encoding: 'utf8' });
    expect(JSON.parse(out).files.length).toBeGreaterThan(8);
    expect(readdirSync(folder)).toContain('package.json');
  });
});
