import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PROBLEMS } from '../errors.ts';
import { SCRIPT } from './api-page.ts';
import { SCHEMA_FILES } from './schema-files.ts';
import { type Listening, startServer } from './server.fixture.ts';

type Act = (payload: unknown) => unknown;
type Wrap = (act: Act, system: object) => Act;

/** The parts of Swagger UI's configuration that the page sets. */
interface PageConfig {
  readonly plugins: readonly [
    { readonly statePlugins: { readonly auth: { readonly wrapActions: Readonly<Record<'authorize' | 'logout', Wrap>> } } },
  ];
  requestInterceptor(request: { loadSpec: boolean; headers: object }): { readonly headers: object };
}

let listening: Listening;
beforeAll(async () => {
  listening = await startServer();
});
afterAll(() => listening.server.close());

describe('the schemas for editors', () => {
  it.each(SCHEMA_FILES)('serves %s with its $id, and 304 to a client that has it', async (name) => {
    const response = await fetch(`${listening.url}/schemas/${name}`);
    const schema = (await response.json()) as object;
    expect([response.status, schema]).toEqual([200, expect.objectContaining({ $id: `urn:bailiwick:${name}` })]);
    expect(response.headers.get('cache-control')).toMatch(/^public, max-age=\d+$/);
    const headers = { 'if-none-match': response.headers.get('etag') ?? '' };
    expect((await fetch(`${listening.url}/schemas/${name}`, { headers })).status).toBe(304);
  });

  it.each(['settings.md', '..%2F..%2Fpackage.json', ''])('does not serve the file %j as a schema', async (name) => {
    expect((await fetch(`${listening.url}/schemas/${name}`)).status).toBe(404);
  });
});

describe('the API page', () => {
  it('the API page loads its scripts, styles and images from the service only', async () => {
    const response = await fetch(`${listening.url}/docs`);
    const page = await response.text();
    const policy = response.headers.get('content-security-policy') ?? '';
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

  it('the API page reloads the OpenAPI document after authorization, and sends the token only with that request', () => {
    const sent: { config?: PageConfig } = {};
    const bundle = Object.assign((config: PageConfig) => Object.assign(sent, { config }), { presets: { apis: [] } });
    runInNewContext(SCRIPT, { SwaggerUIBundle: bundle });
    const { plugins, requestInterceptor } = sent.config as PageConfig;
    const { authorize, logout } = (plugins[0] as PageConfig['plugins'][0]).statePlugins.auth.wrapActions;
    let loads = 0;
    const system = { specActions: { download: () => loads++ } };
    const headersOf = (loadSpec: boolean): object => requestInterceptor({ loadSpec, headers: {} }).headers;
    expect(headersOf(true)).toEqual({});
    expect(authorize((payload) => payload, system)({ bearerAuth: { value: 'a.b.c' } })).toEqual({ bearerAuth: { value: 'a.b.c' } });
    expect([headersOf(true), headersOf(false)]).toEqual([{ authorization: 'Bearer a.b.c' }, {}]);
    logout((payload) => payload, system)(['bearerAuth']);
    expect([headersOf(true), loads]).toEqual([{}, 2]);
  });

  it.each(['index.html', 'oauth2-redirect.html', 'swagger-ui.js', '..%2Fpackage.json'])('does not serve the file %s', async (file) => {
    expect((await fetch(`${listening.url}/docs/${file}`)).status).toBe(404);
  });

  it('sends an asset with an ETag, and 304 if the ETag matches', async () => {
    const address = `${listening.url}/docs/swagger-ui.css`;
    const first = await fetch(address);
    const etag = first.headers.get('etag') ?? '';
    expect((await first.arrayBuffer()).byteLength).toBe(Number(first.headers.get('content-length')));
    const again = await fetch(address, { headers: { 'if-none-match': etag } });
    expect([again.status, await again.text(), again.headers.get('etag')]).toEqual([304, '', etag]);
    expect((await fetch(address, { headers: { 'if-none-match': 'W/"0-0"' } })).status).toBe(200);
  });

  it('answers HEAD with the headers of GET and no body', async () => {
    const response = await fetch(`${listening.url}/docs/swagger-ui.css`, { method: 'HEAD' });
    expect([response.status, Number(response.headers.get('content-length')) > 1000, await response.text()]).toEqual([200, true, '']);
  });

  it('explains every error code at the address in the type of a problem', async () => {
    const problem = (await (await fetch(`${listening.url}/nowhere`)).json()) as { type: string };
    const type = new URL(problem.type, listening.url);
    const page = await (await fetch(type)).text();
    expect(page).toContain(`id="${type.hash.slice(1)}"`);
    for (const code of Object.keys(PROBLEMS)) expect(page).toContain(`id="${code}"`);
  });
});
