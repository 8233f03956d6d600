/** The TypeScript types of the console's requests, generated from the OpenAPI document without resources: these differ in each project. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createApiDocument } from '../src/api/api-document.ts';
import { toRequestLimits } from '../src/component-options.ts';
import { parseConfig } from '../src/config/index.ts';
import { HTTP_ENDPOINTS } from '../src/http/index.ts';
import { isObject, type Json, type JsonObject } from '../src/operators/index.ts';
import { loadProject } from '../src/resources/system/index.ts';

/** The generated file. */
export const CONSOLE_TYPES: string = fileURLToPath(new URL('../console/src/api/generated/endpoints.d.ts', import.meta.url));

const PROJECT = fileURLToPath(new URL('../examples/newsroom/resources', import.meta.url));
// A workspace of its own: this generator needs TypeScript 5.
const GENERATOR = fileURLToPath(new URL('../examples/typescript-client/node_modules/openapi-typescript/bin/cli.js', import.meta.url));

/** Returns the content of the generated file. */
export function renderConsoleTypes(): string {
  const { definitions } = loadProject(PROJECT);
  const limits = toRequestLimits(parseConfig({}));
  const document = createApiDocument({ definitions, visible: [], limits, hasSetup: true, others: HTTP_ENDPOINTS });
  const folder = mkdtempSync(join(tmpdir(), 'bailiwick-types-'));
  try {
    const path = join(folder, 'openapi.json');
    writeFileSync(path, JSON.stringify(withoutExamples(document)));
    return execFileSync(process.execPath, [GENERATOR, path, '--alphabetize'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Removes examples, and the responses of problems, which the console reads in one place. They are two thirds of the generated file. */
function withoutExamples(document: JsonObject): Json {
  return strip(document, '');

  function strip(value: Json, key: string): Json {
    if (Array.isArray(value)) return value.map((each) => strip(each, ''));
    if (!isObject(value)) return value;
    const isKept = ([name]: [string, Json]): boolean =>
      key === 'properties' || !(name === 'example' || name === 'examples' || (key === 'responses' && /^[45]/.test(name)));
    return Object.fromEntries(
      Object.entries(value)
        .filter(isKept)
        .map(([name, member]) => [name, strip(member, name)]),
    );
  }
}
