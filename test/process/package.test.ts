import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { minify } from 'rolldown/experimental';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createChain } from '../chain.ts';
import { type Installed, installPackage, link } from './installed-package.ts';
import { dependenciesOf, diskSpaceOf } from './installed-size.ts';
import { expectDone, type Program, runProgram, send, setUp, startProgram } from './program.ts';

const run = promisify(execFile);
const project = mkdtempSync(join(tmpdir(), 'bailiwick-package-'));
const data = join(project, 'data');
const METRICS_TOKEN = 'a-token-that-nothing-but-metrics-ask-for';
const tsc = fileURLToPath(new URL('../../node_modules/typescript/bin/tsc', import.meta.url));
const root = fileURLToPath(new URL('../..', import.meta.url));
const newsroom = fileURLToPath(new URL('../../examples/newsroom', import.meta.url));

/** The packages whose code is in `dist/`. docs/decisions/install-size.md gives the reasons. */
const BUNDLED = [
  '@bufbuild/cel',
  '@bufbuild/cel-spec',
  '@bufbuild/protobuf',
  '@bufbuild/re2',
  '@opentelemetry/api',
  '@zxcvbn-ts/dictionary-compression',
  '@zxcvbn-ts/language-common',
  'bintrees',
  'csv-parse',
  'lru-cache',
  'prom-client',
  're2js',
  'tdigest',
  'typebox',
  'yaml',
];

/** A software bill of materials, as far as it is read here. */
interface Bill {
  readonly components: readonly { readonly group?: string; readonly name: string }[];
}

let installed: Installed;
beforeAll(async () => {
  installed = await installPackage(project);
}, 120_000);
afterAll(() => rmSync(project, { recursive: true, force: true }));

describe('the package', () => {
  it('the package contains the build, and neither sources nor tests', () => {
    const places = new Set(installed.files.map((path) => (path.includes('/') ? path.slice(0, path.indexOf('/')) : path)));
    expect([...places].sort()).toEqual([
      'CHANGELOG.md',
      'LICENSE',
      'README.md',
      'SECURITY.md',
      'bin',
      'deploy',
      'dist',
      'docs',
      'package.json',
      'templates',
    ]);
    const unwanted = /\.(test|fixture)\.|(?<!\.d)\.ts$|\.map$|\.tgz$|\/images\/|docs\/benchmarks\/|dist\/declarations/;
    expect(installed.files.filter((path) => unwanted.test(path) && !path.endsWith('.test.yaml'))).toEqual([]);
    expect(installed.files).toEqual(expect.arrayContaining(['templates/common/_gitignore', 'docs/reference/policy.schema.json']));
  });

  it('the package takes at most 60 MB on disk, with its dependencies', () => {
    const dependencies = dependenciesOf(root);
    expect(dependencies).toEqual(expect.arrayContaining(['node_modules/fastify', 'node_modules/better-sqlite3']));
    const bytes = [installed.folder, ...dependencies.map((path) => join(root, path))].map(diskSpaceOf);
    expect(bytes.reduce((sum, each) => sum + each, 0)).toBeLessThan(60_000_000);
  });

  it('the package contains the licences of the packages that are bundled into it', () => {
    const texts = installed.files
      .filter((path) => /^dist\/[^/]+\.c?js$/.test(path))
      .map((path) => readFileSync(join(installed.folder, path), 'utf8'));
    const licensed = texts.flatMap((text) => [...text.matchAll(/^\/\*\n(\S+) \d[\w.-]+: (\S.*)\n([\s\S]*?)\*\/$/gm)]);
    expect([...new Set(licensed.map(([, name]) => name))].toSorted()).toEqual(BUNDLED);
    const bare = licensed.filter(([, , license = '', text = '']) => !/^Apache-2\.0$/.test(license) && text.length < 500);
    expect(
      bare.map(([, name]) => name),
      'licences without a text',
    ).toEqual([]);
    expect(installed.files).toContain('dist/swagger-ui/LICENSE');
  });

  it('the bill of materials lists the dependencies and the bundled packages, and none of the packages of tests', async () => {
    await run(process.execPath, ['scripts/sbom.mjs'], { cwd: join(project, 'stage') });
    const { components } = JSON.parse(readFileSync(join(project, 'stage/dist/sbom.json'), 'utf8')) as Bill;
    const names = components.map(({ group, name }) => (group === undefined || group === '' ? name : `${group}/${name}`));
    expect(names).toEqual(expect.arrayContaining([...BUNDLED, '@fastify/swagger-ui', 'fastify', 'better-sqlite3']));
    expect(names.filter((name) => /^(bailiwick|vitest|typescript|rolldown)/.test(name))).toEqual([]);
  });

  it('the declarations of the package are one file, which imports no package', () => {
    const text = readFileSync(join(installed.folder, 'dist/types/index.d.ts'), 'utf8');
    expect(text).not.toMatch(/\bfrom ['"]|import\(/);
    expect(installed.files.filter((path) => path.startsWith('dist/types/') && !path.startsWith('dist/types/client/'))).toEqual([
      'dist/types/index.d.ts',
    ]);
  });

  it('the package contains the console, compressed, and none of the packages that the console is built from', () => {
    const assets = installed.files.filter((path) => path.startsWith('dist/console/assets/'));
    expect(installed.files).toEqual(expect.arrayContaining(['dist/console/index.html', 'dist/console/licenses.md']));
    for (const suffix of ['.js', '.js.br', '.js.gz'])
      expect(
        assets.some((path) => path.endsWith(suffix)),
        suffix,
      ).toBe(true);
    const { dependencies } = JSON.parse(readFileSync(join(installed.folder, 'package.json'), 'utf8')) as Record<'dependencies', object>;
    expect(Object.keys(dependencies).filter((name) => /react|mantine|tanstack|codemirror|vite/.test(name))).toEqual([]);
  });

  it('the package checks the version of Node before it loads modules that need it', () => {
    expect(readFileSync(join(installed.folder, 'dist/main.js'), 'utf8')).not.toMatch(/^(import|export) .*from/m);
  });

  it('the package loads rarely used modules lazily', () => {
    expect(packagesOf('dist/cli.js')).toEqual(['commander']);
    const packages = packagesOf('dist/service.js');
    expect(packages).toContain('fastify');
    for (const late of ['@bufbuild/cel', '@fastify/cors', 'ajv', 'csv-parse', 'pg', 'prom-client']) expect(packages).not.toContain(late);
  });

  it.each([
    { args: ['--help'], out: /storage/ },
    { args: ['--version'], out: /^\d+\.\d+\.\d+\n$/ },
    { args: ['storage', 'plan', '--project', newsroom, '--data', join(project, 'planned')], out: /Article/ },
  ])('the package runs the command $args.0', async ({ args, out }) => {
    expect(await runProgram(args, {}, installed.main)).toEqual({ code: 0, out: expect.stringMatching(out), err: '' });
  });

  it('the package contains the modules for PostgreSQL', async () => {
    const { code, err } = await runProgram(
      ['start', '--project', newsroom, '--database', 'postgres://me@127.0.0.1:1/x'],
      {},
      installed.main,
    );
    expect({ code, err }).toEqual({ code: 2, err: expect.stringMatching(/cannot use the database postgres:\/\/me@127\.0\.0\.1:1\/x: /) });
  });
});

/** Returns the packages that a file imports statically, directly or through other files. */
function packagesOf(path: string): readonly string[] {
  const files = new Set([path]);
  const packages = new Set<string>();
  for (const file of files) {
    const text = readFileSync(join(installed.folder, file), 'utf8');
    for (const [, from = ''] of text.matchAll(/^(?:import|export) (?:.* from )?"(.+)";$/gm)) {
      if (from.startsWith('.')) files.add(join('dist', from));
      else if (!from.startsWith('node:')) packages.add(from);
    }
  }
  return [...packages].sort();
}

describe('a service that is started from the package', () => {
  // These tests build on each other.
  const it = createChain();
  let program: Program;
  beforeAll(async () => {
    program = await startProgram({
      project: newsroom,
      data,
      main: installed.main,
      env: { BAILIWICK_METRICS_TOKEN: METRICS_TOKEN },
    });
  });
  afterAll(() => program.stop());

  it.each([
    ['/readyz', '"status":"ready"'],
    ['/metrics', '# TYPE'],
    ['/docs', 'swagger-ui.css'],
    ['/docs/swagger-ui.css', '.swagger-ui'],
    ['/console/', '<div id="root">'],
  ])('a service from the package answers %s', async (path, part) => {
    const answer = await fetch(program.url + path, { headers: { authorization: `Bearer ${METRICS_TOKEN}` } });
    expect({ status: answer.status, text: await answer.text() }).toEqual({ status: 200, text: expect.stringContaining(part) });
  });

  it('a service from the package sends the API page to clients that do not accept compression', async () => {
    const load = (encoding: string) => fetch(`${program.url}/docs/swagger-ui-bundle.js`, { headers: { 'accept-encoding': encoding } });
    const [plain, compressed] = await Promise.all([load('identity'), load('gzip')]);
    const names = ['content-encoding', 'vary'];
    expect([plain, compressed].map(({ headers }) => names.map((name) => headers.get(name)))).toEqual([
      [null, 'accept-encoding'],
      ['gzip', 'accept-encoding'],
    ]);
    const text = await plain.text();
    expect([text, text.length > 1_000_000]).toEqual([await compressed.text(), true]);
  });

  let token: string;
  it('a service from the package validates values after its validator package was removed from disk', async () => {
    const modules = join(project, 'node_modules');
    // The first value loads the package; without requests, the service does that a second after its start.
    expect(await send(program.url, 'POST /auth/setup', { body: {} })).toMatchObject({ status: 422 });
    rmSync(join(modules, 'ajv'));
    try {
      token = await setUp(program.url);
      expect(await send(program.url, 'POST /admin/api/policies', { token, body: {} })).toMatchObject({ status: 422 });
    } finally {
      link(modules, 'ajv');
    }
  });

  it('a service from the package decides requests, also by an expression', async () => {
    const rules = [{ resource: 'Article', action: 'list', conditions: [{ expression: 'user.role == "user"' }] }];
    await expectDone(send(program.url, 'POST /admin/api/policies', { token, body: { name: 'list', type: 'CUSTOM', rules } }));
    expect(await send(program.url, 'GET /api/Article', { token })).toMatchObject({ status: 200, body: { data: [] } });
    expect(await send(program.url, 'GET /api/Article')).toMatchObject({ status: 403 });
  });
});

describe('a program that imports the package', () => {
  const text = `
    import { createService, parseConfig, Problem, type Service, SetupError } from 'bailiwick';
    const [project = '', data = ''] = process.argv.slice(2);
    const service: Service = await createService(parseConfig({ flags: { project, data, port: '0' } }));
    const { url } = await service.listen();
    const { status } = await fetch(url + '/healthz');
    await service.close();
    console.log(status, Problem.name, SetupError.name);
  `;

  it('a program that imports the package runs the service', async () => {
    writeFileSync(join(project, 'use.mjs'), text.replace('type Service, ', '').replace(': Service', ''));
    const { stdout } = await run(process.execPath, ['use.mjs', newsroom, join(project, 'used')], { cwd: project });
    expect(stdout).toBe('200 Problem SetupError\n');
  });

  it('a program that imports the package type-checks, except the one mistake in it', async () => {
    link(join(project, 'node_modules'), '@types/node');
    // Without the types of browsers, because the package runs on Node.
    const compilerOptions = { strict: true, module: 'nodenext', target: 'es2024', lib: ['es2024'], types: ['node'], noEmit: true };
    writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['use.mts'] }));
    writeFileSync(join(project, 'use.mts'), `${text}export const wrong: number = service.notices;\n`);
    const checked = run(process.execPath, [tsc, '-p', '.'], { cwd: project });
    await expect(checked).rejects.toMatchObject({
      stdout: "use.mts(9,16): error TS2322: Type 'readonly string[]' is not assignable to type 'number'.\n",
    });
  });
});

describe('a program that imports the client of the package', () => {
  const text = `
    import { createClient, type Page, ProblemError } from 'bailiwick/client';
    import type { Resources, Tip } from './bailiwick-types.ts';
    const client = createClient<Resources>({ url: 'http://127.0.0.1:1', retries: 0 });
    export const list = (): Promise<Page<Pick<Tip, 'id' | 'subject'>>> => client.tip.list({ fields: ['subject'], where: { urgency: 'high' } });
    console.log(ProblemError.name, await list().catch((error: Error) => error.message));
  `;

  it('a program in a browser type-checks with the types that the package writes', async () => {
    const types = join(project, 'bailiwick-types.ts');
    await expect(runProgram(['types', '--project', newsroom, '-o', types], {}, installed.main)).resolves.toMatchObject({ code: 0 });
    const compilerOptions = {
      strict: true,
      module: 'esnext',
      moduleResolution: 'bundler',
      lib: ['es2022', 'dom', 'dom.asynciterable'],
      types: [],
    };
    const noEmit = { allowImportingTsExtensions: true, noEmit: true };
    writeFileSync(
      join(project, 'tsconfig.json'),
      JSON.stringify({ compilerOptions: { ...compilerOptions, ...noEmit }, files: ['list.ts'] }),
    );
    writeFileSync(join(project, 'list.ts'), text);
    await run(process.execPath, [tsc, '-p', '.'], { cwd: project });
  });

  it('the client imports nothing and has at most 3 kB, compressed', async () => {
    const code = readFileSync(join(installed.folder, 'dist/client.js'), 'utf8');
    expect(code).not.toMatch(/^import|require\(|node:/m);
    const minified = await minify('client.js', code, { module: true });
    expect(gzipSync(minified.code).length).toBeLessThanOrEqual(3_000);
    expect(Object.keys((await import(join(installed.folder, 'dist/client.js'))) as object)).toEqual(['ProblemError', 'createClient']);
  });
});
