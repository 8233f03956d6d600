import { describe, expect, it } from 'vitest';
import type { PolicyInput } from '../authz/policies/index.ts';
import { CONFIG_OPTIONS } from '../config/config.ts';
import { SetupError } from '../errors.ts';
import { COMMANDS, runCli } from './program.ts';
import { createRun, type Run } from './run.fixture.ts';

/** Starts, and resolves when the start lines are printed. */
async function started(run: Run, args: readonly string[]): Promise<{ readonly exit: Promise<number> }> {
  const exit = runCli(args, run.context);
  await expect.poll(() => run.out.length).toBeGreaterThan(0);
  return { exit };
}

describe('start', () => {
  it('prints the address, project and database, and how to create the first admin', async () => {
    const run = createRun({ openSetup: async () => 'the-token', notices: ['a notice'] });
    const { exit } = await started(run, ['start', '--project', 'p', '--port', '0']);
    run.signals.emit('SIGTERM');
    expect(await exit).toBe(0);
    expect(run.out).toEqual([
      'bailiwick listens on http://127.0.0.1:4242',
      '  console   http://127.0.0.1:4242/console/',
      '  project   p',
      '  database  sqlite:p/data/bailiwick.db',
      '  API page  http://127.0.0.1:4242/docs',
      'a notice',
      'no admin exists yet; create one in the console',
      '  http://127.0.0.1:4242/console/setup#token=the-token',
      'or with',
      expect.stringMatching(/^ {2}curl -X POST http:\/\/127\.0\.0\.1:4242\/auth\/setup .*"token":"the-token"/),
      '  requests from this machine need no token; behind a reverse proxy on this machine, start with --setup token',
    ]);
    expect(run.made[0]?.port).toBe(0);
    expect(run.calls).toEqual(['close']);
    expect(run.signals.listenerCount('SIGTERM') + run.signals.listenerCount('SIGINT')).toBe(0);
  });

  it.each([
    ['--setup', 'token'],
    ['--trust-proxy', '127.0.0.1'],
    ['--allowed-hosts', 'api.example.com'],
  ])('does not offer setup without a token, with %s %s', async (...flags) => {
    const run = createRun({ openSetup: async () => 'the-token' });
    const { exit } = await started(run, ['start', ...flags]);
    run.signals.emit('SIGTERM');
    expect(await exit).toBe(0);
    expect(run.out.at(-1)).toContain('/auth/setup');
  });

  it('prints no address of a console that is off', async () => {
    const run = createRun({ openSetup: async () => 'the-token' });
    const { exit } = await started(run, ['start', '--console', 'off']);
    run.signals.emit('SIGTERM');
    expect(await exit).toBe(0);
    expect(run.out.filter((line) => line.includes('console'))).toEqual([]);
    expect(run.out.slice(4, 6)).toEqual(['no admin exists yet; create one with', expect.stringContaining('curl -X POST')]);
  });

  it('watches definition files only in dev', async () => {
    const run = createRun();
    const { exit } = await started(run, ['dev']);
    run.signals.emit('SIGINT');
    expect(await exit).toBe(0);
    expect(run.calls).toEqual(['in development', 'watch', 'close']);
    expect(run.out).toContain('Article: new field "tags"');
  });

  it('counts two simultaneous signals as one, and ends at once on a later signal', async () => {
    const run = createRun({ close: () => new Promise(() => undefined) });
    const { exit } = await started(run, ['start']);
    run.signals.emit('SIGINT');
    run.signals.emit('SIGINT');
    const early = await Promise.race([exit, new Promise((done) => setTimeout(done, 600, 'draining'))]);
    expect(early).toBe('draining');
    run.signals.emit('SIGINT');
    expect(await exit).toBe(1);
  });

  it('start ends on a signal before it listens', async () => {
    const run = createRun({ listen: () => new Promise(() => undefined) });
    const exit = runCli(['start'], run.context);
    await expect.poll(() => run.made.length).toBe(1);
    run.signals.emit('SIGTERM');
    expect(await exit).toBe(0);
    expect(run.calls).toEqual(['close']);
  });

  it('closes the service if listening fails', async () => {
    const inUse = Object.assign(new Error('listen'), { code: 'EADDRINUSE', syscall: 'listen', port: 80, address: '::1' });
    const run = createRun({ listen: () => Promise.reject(inUse) });
    expect(await runCli(['start'], run.context)).toBe(2);
    expect(run.err).toEqual(['bailiwick: port 80 of ::1 is in use; give another with --port, or 0 for a free one']);
    expect(run.calls).toEqual(['close']);
  });
});

describe('policies from-permissions', () => {
  it('creates policies only with --apply', async () => {
    const run = createRun();
    expect(await runCli(['policies', 'from-permissions'], run.context)).toBe(0);
    expect(await runCli(['policies', 'from-permissions', '--apply'], run.context)).toBe(0);
    expect(run.calls).toEqual(['apply false', 'close', 'apply true', 'close']);
  });

  it('prints each policy as the API accepts it, with its roles and state', async () => {
    const policy: PolicyInput = { name: 'permissions: Comment', type: 'ROLE_BASED', isActive: true, priority: 100, tags: [], rules: [] };
    const run = createRun({ policiesFromPermissions: async () => [{ policy, roles: ['anon'], state: 'missing' }] });
    await runCli(['policies', 'from-permissions'], run.context);
    expect(run.out).toEqual([
      '---\npolicy:\n  name: "permissions: Comment"\n  type: ROLE_BASED\n  isActive: true\n  priority: 100\n  tags: []\n  rules: []\nroles:\n  - anon\nstate: missing',
      '# 0 present, 0 created, 1 missing; create them with --apply',
    ]);
  });

  it('reports that no definition has a permissions map', async () => {
    const run = createRun();
    await runCli(['policies', 'from-permissions'], run.context);
    expect(run.out).toEqual(['# no definition has a permissions map']);
  });
});

describe('runCli', () => {
  const refused: readonly [readonly string[], string][] = [
    [['strat'], "unknown command 'strat' (Did you mean start?)"],
    [['start', '--prot', '3'], "unknown option '--prot' (Did you mean --port?)"],
    [['start', '--port'], "option '--port <number>' argument missing"],
    [['start', 'here'], "too many arguments for 'start'. Expected 0 arguments but got 1: here."],
    [['storage', 'plam'], "unknown command 'plam' (Did you mean plan?)"],
    [['start', '--port', 'x'], '--port: expected a whole number from 0 to 65535, given "x"'],
    [['start', '--jwt-secret', 'x'.repeat(40)], "unknown option '--jwt-secret'"],
  ];
  it.each(refused)('refuses %j with a message', async (args, sentence) => {
    const run = createRun();
    expect(await runCli(args, run.context)).toBe(2);
    expect(run.err).toEqual([expect.stringContaining(`bailiwick: ${sentence}`)]);
    expect(run.made).toEqual([]);
  });

  it('lists every mistake of a SetupError', async () => {
    const run = createRun();
    const context = {
      ...run.context,
      createService: () => Promise.reject(new SetupError('2 mistakes', ['a.yaml:1:2 one', 'b.yaml:3:4 two'])),
    };
    expect(await runCli(['start'], context)).toBe(2);
    expect(run.err).toEqual(['bailiwick: 2 mistakes', '  a.yaml:1:2 one', '  b.yaml:3:4 two']);
  });

  it('prints an internal error with its stack', async () => {
    const run = createRun();
    const context = { ...run.context, createService: () => Promise.reject(new TypeError('oh')) };
    expect(await runCli(['start'], context)).toBe(1);
    expect(run.err[0]).toMatch(/internal error, please report it: TypeError: oh\n {4}at /);
  });

  it('reads options from the environment', async () => {
    const run = createRun({}, { BAILIWICK_HOST: '::1' });
    await runCli(['storage', 'plan'], run.context);
    expect(run.made[0]?.host).toBe('::1');
  });

  it.each(['start', 'dev', 'import', 'policies from-permissions'])('lists every option with a flag in the help of %s', async (line) => {
    const run = createRun();
    expect(await runCli([...line.split(' '), '--help'], run.context)).toBe(0);
    const flags = [...CONFIG_OPTIONS.values()].flatMap(({ flag }) => flag ?? []);
    expect(flags.filter((flag) => !run.out.join('\n').includes(`${flag} <`))).toEqual([]);
  });

  it.each([
    ...['storage plan', 'storage prune', 'backup some.db', 'status'].map((line) => [line, 'project data database'] as const),
    ...['check', 'types', 'policies lint'].map((line) => [line, 'project'] as const),
  ])('the help of %s lists the options that it needs, %s, and the command accepts the others', async (line, expected) => {
    const words = line.split(' ');
    const run = createRun();
    expect(await runCli([...words, '--help'], run.context)).toBe(0);
    const named = [...CONFIG_OPTIONS.values()].filter(({ flag }) => flag !== undefined && run.out.join('\n').includes(`${flag} <`));
    expect(named.map(({ name }) => name).join(' ')).toBe(expected);
    expect(await runCli([...words, '--port', 'x'], run.context)).toBe(2);
    expect(run.err.join()).toContain('--port: expected a whole number from 0 to 65535');
  });

  it('prints the version of the package', async () => {
    const run = createRun();
    expect(await runCli(['--version'], run.context)).toBe(0);
    expect(run.out).toEqual(['1.2.3']);
  });
});

describe('files of records', () => {
  it('import derives the format from the file name, prints rejected rows and returns exit code 1', async () => {
    const run = createRun();
    const args = [
      'import',
      'Article',
      'a.csv',
      '--as',
      'ada@example.com',
      '--mode',
      'upsert',
      '--key',
      'slug',
      '--on-error',
      'skip',
      '--dry-run',
    ];
    expect(await runCli(args, run.context)).toBe(1);
    expect(run.calls).toEqual([
      'open a.csv',
      'import Article as ada@example.com: text/csv [["mode","upsert"],["key","slug"],["onError","skip"],["dryRun","true"]]',
      'close',
    ]);
    expect([run.out, run.err]).toEqual([['{"row":3,"code":"VALUE_INVALID"}'], ['1 imported']]);
  });

  it('import stops listening to signals, also if there is no file', async () => {
    const run = createRun();
    const context = { ...run.context, openInput: () => Promise.reject(new SetupError('none')) };
    expect(await runCli(['import', 'Article', 'new.csv', '--as', 'ada@example.com'], context)).toBe(2);
    expect(run.signals.listenerCount('SIGTERM') + run.signals.listenerCount('SIGINT')).toBe(0);
  });

  it.each([
    ['user', 'password', 'ada@example.com'],
    ['user', 'promote', 'ada@example.com'],
    ['policies', 'restore-admin'],
    ['policies', 'export', 'a.json'],
    ['export', 'Article', 'a.csv', '--as', 'ada@example.com'],
    ['import', 'Article', 'a.csv', '--as', 'ada@example.com'],
    ['policies', 'import', 'a.json', '--as', 'ada@example.com', '--dry-run'],
    ['policies', 'from-permissions'],
  ])('%s %s creates no database', async (...args) => {
    const run = createRun();
    await runCli(args, run.context);
    expect(run.made.map(({ createDatabase }) => createDatabase)).toEqual(['never']);
  });

  it.each([
    ['export', 'Article', 'a.csv', '--as', 'ada@example.com'],
    ['policies', 'export', 'a.json'],
  ])('%s replaces a file only with --force', async (...args) => {
    const [refusing, forced] = [createRun(), createRun()];
    await runCli(args, refusing.context);
    await runCli([...args, '--force'], forced.context);
    expect([refusing, forced].map(({ calls }) => calls.some((call) => call.includes('by force')))).toEqual([false, true]);
  });

  it('export writes to standard output by default, or to the file', async () => {
    const run = createRun();
    expect(await runCli(['export', 'Article', '--as', 'ada@example.com', '--format', 'ndjson', '--sort', '-slug'], run.context)).toBe(0);
    expect(
      await runCli(['export', 'Article', 'a.tsv', '--as', 'ada@example.com', '--fields', 'slug,title', '--raw-cells'], run.context),
    ).toBe(0);
    expect(run.calls).toEqual([
      'export Article as ada@example.com: [[["format","ndjson"]],{"sort":"-slug"}]',
      'write -: a',
      'write -: b',
      'close',
      'export Article as ada@example.com: [[["delimiter","tab"],["escape","false"],["format","csv"]],{"fields":["slug","title"]}]',
      'write a.tsv: a',
      'write a.tsv: b',
      'close',
    ]);
    expect(run.err).toEqual(['2 rows exported', '2 rows exported']);
  });

  it.each([
    [['import', 'Article', 'a.csv'], 'expected --as with the email of a user, given none'],
    [['import', 'Article', '-', '--as', 'a@example.com'], 'expected --format ndjson or csv or json: it has no default without a file'],
    [
      ['export', 'Article', 'a.xml', '--as', 'a@example.com'],
      'expected --format ndjson or csv or json: the name of "a.xml" has none of these extensions',
    ],
    [['export', 'Article', '--as', 'a@example.com', '--format', 'xml'], 'expected --format ndjson or csv or json, given "xml"'],
    [['import', 'Article'], "missing required argument 'file'"],
  ])('refuses the arguments %j', async (args, message) => {
    const run = createRun();
    expect(await runCli(args, run.context)).toBe(2);
    expect(run.err.join('\n')).toContain(message);
    expect(run.made).toEqual([]);
  });
});

describe('commands', () => {
  it.each([...COMMANDS])(
    'the command %s has its name in the table, and prints the same help alone as among all commands',
    async (typed, load) => {
      expect((await load()).name).toBe(typed);
      const alone = createRun();
      const among = createRun();
      const words = typed.split(' ');
      expect(await runCli([...words, '--help'], alone.context)).toBe(0);
      expect(await runCli(words.toSpliced(-1, 0, 'help'), among.context)).toBe(0);
      const helped = createRun();
      expect([await runCli(['help', ...words], helped.context), helped.out]).toEqual([0, alone.out]);
      expect(alone.out[0]?.startsWith(`Usage: bailiwick ${typed} `)).toBe(true);
      expect(alone.out).toEqual(among.out);
    },
  );
});
