/** Code examples of the guides, for tests that run them. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';

/** Returns the text of a guide. */
export function guide(name: string): string {
  return readFileSync(new URL(`../../docs/guides/${name}.md`, import.meta.url), 'utf8');
}

/** Returns the code blocks of a guide in a language, in order. A block without a language has the empty one. */
export function examples(name: string, language: string): readonly string[] {
  return [...guide(name).matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].filter((block) => block[1] === language).map((block) => block[2] ?? '');
}

/** Runs a shell command of a guide with these variables, and parses the JSON that it prints. */
export async function run(command: string, variables: Readonly<Record<string, string>>): Promise<Record<string, unknown>> {
  const { stdout } = await promisify(execFile)('sh', ['-eu', '-c', command], { env: { PATH: process.env['PATH'], ...variables } });
  return JSON.parse(stdout) as Record<string, unknown>;
}
