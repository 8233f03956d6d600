/** Types that are generated for TypeScript work: a program with them compiles and runs against the service, and wrong calls do not compile. */
import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunningService, startService } from '../harness.ts';

const execute = promisify(execFile);
const folder = fileURLToPath(new URL('../../examples/typescript-client/', import.meta.url));
const compiler = fileURLToPath(new URL('../../node_modules/typescript/bin/tsc', import.meta.url));

/** The service that describes itself, and a service without an admin. */
let services: readonly [described: RunningService, fresh: RunningService];

beforeAll(async () => {
  services = [await startService({ project: 'examples/newsroom' }), await startService({ project: 'examples/newsroom' })];
  const [described] = services;
  const document = await described.call('GET', '/openapi.json', { token: (await described.admin()).token });
  mkdirSync(`${folder}generated`, { recursive: true });
  writeFileSync(`${folder}generated/openapi.json`, document.text);
  await run('node_modules/openapi-typescript/bin/cli.js', 'generated/openapi.json', '--output', 'generated/newsroom.d.ts');
});
afterAll(() => Promise.all(services.map((service) => service.close())));

/** Runs a program in this folder; returns what it prints. Throws if it fails. */
async function run(program: string, ...args: readonly string[]): Promise<string> {
  try {
    return (await execute(process.execPath, [program, ...args], { cwd: folder })).stdout;
  } catch (error) {
    const { stdout, stderr } = error as { readonly stdout: string; readonly stderr: string };
    throw new Error(`${program} failed:\n${stdout}${stderr}`, { cause: error });
  }
}

describe('a TypeScript program with generated types', () => {
  it('a TypeScript program with generated types compiles, and every call with a mistake is rejected for the reason above it', async () => {
    const source = readFileSync(`${folder}rejected-calls.ts`, 'utf8');
    writeFileSync(`${folder}generated/unmarked-calls.ts`, source.replaceAll('@ts-expect-error', '').replace('./generated/', './'));
    const files = ['../newsroom-client.ts', '../rejected-calls.ts', 'unmarked-calls.ts'];
    writeFileSync(`${folder}generated/tsconfig.json`, JSON.stringify({ extends: '../tsconfig.json', files }));
    const messages = await compile('generated');
    const marks = source.split('\n').flatMap((text, line) => (text.startsWith('// @ts-expect-error') ? [{ line: line + 2, text }] : []));
    expect(messages.map(({ file, line }) => `${file}:${line}`)).toEqual(marks.map(({ line }) => `generated/unmarked-calls.ts:${line}`));
    const unexplained = marks.filter(({ text }, index) => !messages[index]?.text.includes(/"(.+)"/.exec(text)?.[1] ?? '?'));
    expect(unexplained).toEqual([]);
  });

  it('a TypeScript program with generated types runs against the service', async () => {
    const [, fresh] = services;
    await run('newsroom-client.ts', fresh.url);
    const token = await fresh.logIn('admin@example.com', 'correct horse battery');
    const { body } = await fresh.call('GET', '/api/Article?sort=slug&fields=slug', { token });
    const { data } = body as { readonly data: readonly { readonly slug: string }[] };
    expect(data.map(({ slug }) => slug)).toEqual(['bridge', 'festival', 'harbour', 'museum', 'stadium', 'theatre']);
  });
});

/** A message of the compiler, with its further lines. */
interface Message {
  readonly file: string;
  readonly line: number;
  readonly text: string;
}

/** Compiles a project; returns the messages. */
async function compile(project: string): Promise<readonly Message[]> {
  const { stdout } = await execute(process.execPath, [compiler, '-p', project], { cwd: folder }).catch(
    (failure: { readonly stdout: string }) => failure,
  );
  return stdout
    .split(/\n(?=\S)/)
    .filter((text) => text.trim() !== '')
    .map((text) => {
      const [, file = text, line = ''] = /^(.+?)\((\d+),\d+\): error/.exec(text) ?? [];
      return { file, line: Number(line), text };
    });
}
