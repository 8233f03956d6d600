import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Reply, type RunningService, startService } from '../harness.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** The commands of the example's README, without those of the CLI. */
const commands = [...readFileSync(`${root}examples/newsroom/README.md`, 'utf8').matchAll(/^```sh\n([\s\S]*?)^```$/gm)]
  .map(([, text]) => text as string)
  .filter((text) => !text.includes('npx'));

describe('the newsroom example', () => {
  let service: RunningService;
  let printed = '';
  beforeAll(async () => {
    service = await startService({ project: 'examples/newsroom' });
    printed = await runInShell(commands.join('\n'), { URL: service.url, ADMIN: (await service.admin()).token });
  });
  afterAll(() => service.close());

  it('the newsroom example has commands to run', () => expect(commands).toHaveLength(2));

  it('the newsroom example imports its articles and tips', async () => {
    const { token } = await service.admin();
    expect((await service.call('GET', '/api/Article', { token })).at('count')).toBe(3);
    expect((await service.call('GET', '/api/Tip', { token })).at('count')).toBe(2);
  });

  it('the newsroom example shows only published articles to anonymous callers', async () => {
    const slugs = (reply: Reply): unknown => (reply.at('data') as readonly { slug: string }[]).map(({ slug }) => slug);
    expect(slugs(await service.call('GET', '/api/Article?sort=slug'))).toEqual(['a-budget-at-last', 'harbour-reopens']);
    expect((await service.call('GET', '/api/Tip')).status).toBe(403);
    expect(printed).toContain('harbour-reopens');
  });

  it("the newsroom example never shows a source's address", async () => {
    const { token } = await service.admin();
    expect((await service.call('GET', '/api/Tip', { token })).text).not.toMatch(/contact|wants to stay one/);
    expect((await service.call('GET', '/openapi.json', { token: (await service.admin()).token })).text).not.toContain('contact');
  });
});

async function runInShell(script: string, env: Readonly<Record<string, string>>): Promise<string> {
  const path = `${dirname(process.execPath)}:${process.env['PATH']}`;
  const shell = spawn('sh', ['-eu', '-c', script], { cwd: root, env: { ...env, PATH: path }, stdio: ['ignore', 'pipe', 'inherit'] });
  let printed = '';
  for await (const chunk of shell.stdout) printed += chunk;
  return printed;
}
