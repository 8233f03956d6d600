import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';
import { createService, parseConfig, type Service } from '../../src/index.ts';
import { examples } from './examples.ts';

const ENTRY = new URL('../../src/index.ts', import.meta.url);
const [example = ''] = examples('operating', 'js');

it('the example of the library entry runs a service', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'bailiwick-library-'));
  try {
    mkdirSync(join(folder, 'resources'));
    writeFileSync(join(folder, 'resources', 'Note.yaml'), 'name: Note\nfields: { text: { type: string } }\n');
    writeFileSync(join(folder, 'program.mjs'), example.replace("'bailiwick'", JSON.stringify(ENTRY.href)));
    const { stdout } = await promisify(execFile)(process.execPath, ['program.mjs'], { cwd: folder, env: { PATH: process.env['PATH'] } });
    expect(stdout).toMatch(/^the API is at http:\/\/127\.0\.0\.1:\d+\/api\n$/);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

it('the docstring of the library entry has the example of the guide', () => {
  const text = readFileSync(ENTRY, 'utf8').replaceAll(/^ \* ?/gm, '');
  expect(text).toContain(`\`\`\`js\n${example}\`\`\``);
});

describe('the listener of a service', () => {
  const folder = mkdtempSync(join(tmpdir(), 'bailiwick-listener-'));
  mkdirSync(join(folder, 'resources'));
  afterAll(() => rmSync(folder, { recursive: true }));
  const ONCE = { name: 'SetupError', message: 'this service has listened or is closed; create another one' };

  function create(data: string, port: number): Promise<Service> {
    const flags = { project: folder, data: join(folder, data), port, metricsAddress: '127.0.0.1:0', logLevel: 'silent' };
    return createService(parseConfig({ flags }));
  }

  it('closes the metrics address if the port is in use, and does not listen again', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const service = await create('in-use', (other.address() as AddressInfo).port);
    try {
      await expect(service.listen()).rejects.toThrow('the port is in use');
      const [, metrics = ''] = /metrics are at (\S+)/.exec(service.notices.join()) ?? [];
      await expect(fetch(metrics)).rejects.toMatchObject({ cause: { code: 'ECONNREFUSED' } });
      other.close();
      await expect(service.listen()).rejects.toMatchObject(ONCE);
    } finally {
      await service.close();
    }
  });

  it('refuses to listen a second time, and after the service is closed', async () => {
    const service = await create('twice', 0);
    const { url } = await service.listen();
    await expect(service.listen()).rejects.toMatchObject(ONCE);
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    await service.close();
    await expect(service.listen()).rejects.toMatchObject(ONCE);
    const unused = await create('unused', 0);
    await unused.close();
    await expect(unused.listen()).rejects.toMatchObject(ONCE);
  });
});
