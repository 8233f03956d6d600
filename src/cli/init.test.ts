import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { CliContext } from './cli-context.ts';
import { PROJECT_TEMPLATES } from './init.ts';
import { runCli } from './program.ts';
import { createRun } from './run.fixture.ts';

/** Runs the command. With answers, it has a terminal on which they are typed. */
async function run(args: readonly string[], { answers, isCheckout = false }: { answers?: string[]; isCheckout?: boolean } = {}) {
  const { context, out, err, calls } = createRun();
  const asked: string[] = [];
  const ask = async (question: string): Promise<string> => {
    asked.push(question);
    return answers?.shift() ?? '';
  };
  const askQuestions: CliContext['askQuestions'] = (questions) => questions({ ask });
  const exitCode = await runCli(['init', ...args], { ...context, isCheckout, ...(answers !== undefined && { askQuestions }) });
  return { exitCode, out, err, calls, asked };
}

describe('init', () => {
  it('init lists a template for each folder of templates/', () => {
    const folders = readdirSync('templates').filter((name) => !name.startsWith('common'));
    expect([...PROJECT_TEMPLATES.keys()].toSorted()).toEqual(folders.toSorted());
  });

  it('init creates a project and prints the next three commands', async () => {
    const { exitCode, out, calls } = await run(['shop', '--template', 'multi-tenant', '--example-data']);
    expect([exitCode, calls]).toEqual([0, ['create shop from multi-tenant with example data']]);
    expect(out.slice(1, -1)).toEqual(['next:', '  cd shop', '  npm install', '  npm run dev']);
  });

  it('init prints commands that work in this folder, and for names with spaces', async () => {
    expect((await run(['.'])).out).not.toContainEqual(expect.stringContaining('  cd'));
    expect((await run(["it's mine"])).out).toContain("  cd 'it'\\''s mine'");
  });

  it.each([
    ['--weird', './--weird'],
    ['-', './-'],
    ['+1', './+1'],
    ['-a b', "'./-a b'"],
    ['~ada', "'~ada'"],
    ['=ls', "'=ls'"],
  ])('init prints commands that a shell takes for the folder %s', async (folder, path) => {
    expect((await run(['--', folder])).out).toContain(`  cd ${path}`);
    expect((await run(['--', folder], { isCheckout: true })).out).toContain(`  npx bailiwick dev --project ${path}`);
  });

  it('init prints commands of the checkout if it runs from one', async () => {
    const { out } = await run(['../shop'], { isCheckout: true });
    expect(out).toContain('  npx bailiwick dev --project ../shop');
    expect(out.filter((line) => line.includes('npm'))).toEqual([]);
  });

  it('init asks on a terminal for what is not given', async () => {
    const all = await run([], { answers: ['shop', '3', 'y'] });
    expect([all.asked.length, all.calls]).toEqual([3, ['create shop from multi-tenant with example data']]);
    const one = await run(['shop', '--template', 'clinic', '--example-data'], { answers: [] });
    expect([one.asked, one.calls]).toEqual([[], ['create shop from clinic with example data']]);
  });

  it('init uses a default for an empty answer', async () => {
    expect((await run([], { answers: ['', '', ''] })).calls).toEqual(['create my-api from blank']);
  });

  it('init accepts the name of a template as an answer, and refuses an unknown one', async () => {
    expect((await run(['shop'], { answers: ['newsroom', ''] })).calls).toEqual(['create shop from newsroom']);
    const { exitCode, err, calls } = await run(['shop'], { answers: ['5', ''] });
    expect({ exitCode, calls }).toEqual({ exitCode: 2, calls: [] });
    expect(err[0]).toContain('"5"');
  });

  it.each([['--yes'], ['--json']])('init asks nothing with %s', async (flag) => {
    const { asked, calls } = await run(['shop', flag], { answers: [] });
    expect({ asked, calls }).toEqual({ asked: [], calls: ['create shop from blank'] });
  });

  it('init requires a folder if it cannot ask', async () => {
    for (const args of [[], ['--yes'], ['--template', 'blank']]) expect(await run(args)).toMatchObject({ exitCode: 2, calls: [] });
  });

  it('init suggests the name of a template', async () => {
    const { exitCode, err, calls } = await run(['shop', '--template', 'newsrom']);
    expect({ exitCode, calls }).toEqual({ exitCode: 2, calls: [] });
    expect(err[0]).toContain('did you mean "newsroom"?');
  });

  it('init prints JSON', async () => {
    const { out } = await run(['shop', '--json']);
    expect(JSON.parse(out.join('\n'))).toEqual({
      folder: '/projects/shop',
      template: 'blank',
      files: ['README.md', 'package.json'],
      next: ['cd shop', 'npm install', 'npm run dev'],
    });
  });

  it('init has no settings of the service, and ignores wrong ones', async () => {
    expect(await run(['shop', '--port', '80'])).toMatchObject({ exitCode: 2, calls: [] });
    const { context, calls } = createRun({}, { BAILIWICK_PORT: 'none' });
    expect(await runCli(['init', 'shop'], context)).toBe(0);
    expect(calls).toEqual(['create shop from blank']);
  });
});

describe('the file .env of a project', () => {
  it('the settings in .env apply, and those of the environment and of flags precede them', async () => {
    const read: string[] = [];
    const start = async (args: readonly string[], env: Record<string, string>) => {
      const { context, made, signals, out } = createRun({}, env);
      const readEnvFile = async (project: string) => {
        read.push(project);
        return { BAILIWICK_PORT: '1', BAILIWICK_HOST: '127.0.0.2', BAILIWICK_DOCS: 'off' };
      };
      const exit = runCli(['start', ...args], { ...context, readEnvFile });
      await expect.poll(() => out.length).toBeGreaterThan(0);
      signals.emit('SIGTERM');
      await exit;
      return made[0];
    };
    const config = await start(['--project', 'p', '--port', '3'], { BAILIWICK_PORT: '2', BAILIWICK_HOST: '127.0.0.3' });
    expect(config).toMatchObject({ port: 3, host: '127.0.0.3', docs: 'off' });
    await start([], { BAILIWICK_PROJECT: 'q' });
    await start([], {});
    expect(read).toEqual(['p', 'q', '.']);
  });
});
