import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PROBLEMS } from '../errors.ts';
import { type Listening, startServer } from './server.fixture.ts';

let listening: Listening;
beforeAll(async () => {
  listening = await startServer();
});
afterAll(() => listening.server.close());

describe('the pages that describe the service', () => {
  it('serve the OpenAPI document', async () => {
    const answer = await fetch(`${listening.url}/openapi.json`);
    expect(await answer.json()).toEqual({ openapi: '3.1.0' });
    expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
  });

  it('serve the API page with everything it loads from here', async () => {
    const answer = await fetch(`${listening.url}/docs`);
    const page = await answer.text();
    const policy = answer.headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("script-src 'self';");
    expect(page).not.toMatch(/https?:|<script>|\son\w+=/);
    const loaded = [...page.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, address]) => new URL(address ?? '', `${listening.url}/docs`));
    expect(loaded.length).toBe(4);
    for (const address of loaded) {
      const asset = await fetch(address);
      expect([address.origin, asset.status]).toEqual([listening.url, 200]);
      expect(asset.headers.get('content-type')).toMatch(/javascript|css|png/);
      expect((await asset.arrayBuffer()).byteLength).toBeGreaterThan(50);
    }
  });

  it.each(['index.html', 'oauth2-redirect.html', 'swagger-ui.js', '..%2Fpackage.json'])('do not serve %s', async (file) => {
    expect((await fetch(`${listening.url}/docs/${file}`)).status).toBe(404);
  });

  it('send a file again only where it is another', async () => {
    const address = `${listening.url}/docs/swagger-ui.css`;
    const first = await fetch(address);
    const etag = first.headers.get('etag') ?? '';
    expect((await first.arrayBuffer()).byteLength).toBe(Number(first.headers.get('content-length')));
    const again = await fetch(address, { headers: { 'if-none-match': etag } });
    expect([again.status, await again.text(), again.headers.get('etag')]).toEqual([304, '', etag]);
    expect((await fetch(address, { headers: { 'if-none-match': 'W/"0-0"' } })).status).toBe(200);
  });

  it('answer HEAD as GET, without the file', async () => {
    const answer = await fetch(`${listening.url}/docs/swagger-ui.css`, { method: 'HEAD' });
    expect([answer.status, Number(answer.headers.get('content-length')) > 1000, await answer.text()]).toEqual([200, true, '']);
  });

  it('explain every error where the type of a problem says', async () => {
    const problem = (await (await fetch(`${listening.url}/nowhere`)).json()) as { type: string };
    const type = new URL(problem.type, listening.url);
    const page = await (await fetch(type)).text();
    expect(page).toContain(`id="${type.hash.slice(1)}"`);
    for (const code of Object.keys(PROBLEMS)) expect(page).toContain(`id="${code}"`);
  });
});
