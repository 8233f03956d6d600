import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunningService, startService } from '../harness.ts';
import { expectShown, openShell, readSteps, type Step } from './walkthrough.ts';

const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
const steps = readSteps(readme).filter((step): step is Extract<Step, { command: string }> => 'command' in step);

describe('the tutorial of the README', () => {
  let service: RunningService;
  const outputs: string[] = [];

  beforeAll(async () => {
    service = await startService({ definitions: readDefinitions(readme), isDevelopment: true });
    const shell = openShell({ PATH: `${dirname(process.execPath)}:${process.env['PATH']}`, URL: service.url });
    for (const { command } of steps) outputs.push(await shell.run(command));
    await shell.close();
  });
  afterAll(() => service.close());

  it('the tutorial of the README has a definition, commands and responses', () => {
    expect(Object.keys(readDefinitions(readme))).toEqual(['Article.yaml']);
    expect(steps.length).toBeGreaterThan(10);
    expect(steps.filter(({ shown }) => shown !== undefined).length).toBeGreaterThan(6);
  });

  for (const [index, { command, shown }] of steps.entries()) {
    if (shown === undefined) continue;
    it(`the tutorial of the README shows the response of step ${index + 1}: ${command.trim().split('\n').at(-1)}`, () => {
      expectShown(outputs[index] as string, shown);
    });
  }
});

/** Returns the definition files of the README: each YAML block names its file in the first line. */
function readDefinitions(markdown: string): Readonly<Record<string, string>> {
  const blocks = markdown.matchAll(/^```yaml\n# \S+\/resources\/(\S+)\n([\s\S]*?)^```$/gm);
  return Object.fromEntries([...blocks].map(([, file = '', text = '']) => [file, text]));
}
