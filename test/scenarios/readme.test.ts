import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunningService, startService } from '../harness.ts';

const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');

/** The commands of the tutorial with the responses that it shows: "…" matches any text, and a response may have further members. */
const steps = readSteps(readme);

describe('the tutorial of the README', () => {
  let service: RunningService;
  let answers: readonly string[];

  beforeAll(async () => {
    service = await startService({ definitions: readDefinitions(readme), isDevelopment: true });
    answers = await runInOneShell(
      steps.map((step) => step.command),
      service.url,
    );
  });
  afterAll(() => service.close());

  it('the tutorial of the README has a definition, commands and responses', () => {
    expect(Object.keys(readDefinitions(readme))).toEqual(['Article.yaml']);
    expect(steps.length).toBeGreaterThan(10);
    expect(steps.filter((step) => step.promise !== undefined).length).toBeGreaterThan(6);
  });

  for (const [index, step] of steps.entries()) {
    if (step.promise === undefined) continue;
    it(`the tutorial of the README shows the response of step ${index + 1}: ${step.command.trim().split('\n').at(-1)}`, () => {
      expectPromised(JSON.parse(answers[index] as string), JSON.parse(step.promise as string), '');
    });
  }
});

interface Step {
  readonly command: string;
  readonly promise: string | undefined;
}

/** Returns the definition files of the README: each YAML block names its file in the first line. */
function readDefinitions(markdown: string): Readonly<Record<string, string>> {
  const blocks = markdown.matchAll(/^```yaml\n# \S+\/resources\/(\S+)\n([\s\S]*?)^```$/gm);
  return Object.fromEntries([...blocks].map(([, file = '', text = '']) => [file, text]));
}

function readSteps(markdown: string): readonly Step[] {
  const blocks = [...markdown.matchAll(/^```(sh|json)\n([\s\S]*?)^```$/gm)];
  return blocks.flatMap(([, language, text], index): Step[] => {
    if (language !== 'sh') return [];
    const [, nextLanguage, promise] = blocks[index + 1] ?? [];
    return [{ command: text as string, promise: nextLanguage === 'json' ? promise : undefined }];
  });
}

/** Runs all commands in one shell and returns the output of each. */
async function runInOneShell(commands: readonly string[], url: string): Promise<readonly string[]> {
  const mark = '\n----8<----\n';
  const script = commands.map((command) => `${command}\nprintf '${mark.replaceAll('\n', '\\n')}'`).join('\n');
  const path = `${dirname(process.execPath)}:${process.env['PATH']}`;
  const shell = spawn('sh', ['-eu', '-c', script], { env: { PATH: path, URL: url }, stdio: ['ignore', 'pipe', 'inherit'] });
  let printed = '';
  for await (const chunk of shell.stdout) printed += chunk;
  return printed.split(mark);
}

function expectPromised(actual: unknown, promised: unknown, path: string): void {
  if (typeof promised === 'string' && promised.includes('…')) {
    expect(typeof actual, path).toBe('string');
    for (const part of promised.split('…')) expect(actual, path).toContain(part);
  } else if (typeof promised === 'object' && promised !== null) {
    expect(typeof actual, path).toBe('object');
    for (const [key, value] of Object.entries(promised)) expectPromised((actual as Record<string, unknown>)[key], value, `${path}.${key}`);
  } else {
    expect(actual, path).toBe(promised);
  }
}
