/** What guides show, as tests try it out. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';

/** The text of a guide. */
export function guide(name: string): string {
  return readFileSync(new URL(`../../docs/guides/${name}.md`, import.meta.url), 'utf8');
}

/** The examples of a guide, in order; those without a language have the empty one. */
export function examples(name: string, language: string): readonly string[] {
  return [...guide(name).matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].filter((block) => block[1] === language).map((block) => block[2] ?? '');
}

/** Runs what a guide says to type, with the variables that it uses, and reads the JSON that it prints. */
export async function run(command: string, variables: Readonly<Record<string, string>>): Promise<Record<string, unknown>> {
  const { stdout } = await promisify(execFile)('sh', ['-eu', '-c', command], { env: { PATH: process.env['PATH'], ...variables } });
  return JSON.parse(stdout) as Record<string, unknown>;
}
