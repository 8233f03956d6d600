// Loads the example data into the running service, and shows a denied request. It needs no packages: node example-data/load.mjs
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';

const { BAILIWICK_URL: url = 'http://127.0.0.1:8787', ADMIN_EMAIL, ADMIN_PASSWORD } = process.env;
const { users, records, denial } = JSON.parse(readFileSync(new URL('records.json', import.meta.url), 'utf8'));

/** The tokens of the admin and of the example users, and the ids of users and records, by name. */
const tokens = new Map();
const ids = new Map();

try {
  await load();
} catch (error) {
  process.stderr.write(`example data: ${error.message}\n`);
  process.exitCode = 1;
}

async function load() {
  await logIn('admin', await readCredentials());
  await requirePolicies();
  const password = randomBytes(9).toString('base64url');
  for (const [name, user] of Object.entries(users)) {
    ids.set(name, await create({ as: 'admin', resource: 'User', data: { ...user, password } }));
    await logIn(name, { email: user.email, password });
  }
  for (const { name, as = 'admin', resource, data } of records) ids.set(name, await create({ as, resource, data: withIds(data) }));
  print(`created ${Object.keys(users).length} users with the password ${password}, and ${records.length} records\n`);
  await showDenial();
}

/** Throws before anything is created, so that the script can be run again after the policies are applied. */
async function requirePolicies() {
  const { status, body } = await send('GET', '/admin/api/roles/user/policies', { as: 'admin' });
  if (status !== 200) throw new Error(`cannot list the policies of the role user: ${body.detail}`);
  if (body.data.length === 0) throw new Error('apply the policies first: npx bailiwick policies apply --as <email of the admin>');
}

function print(line) {
  process.stdout.write(`${line}\n`);
}

async function logIn(name, credentials) {
  const { status, body } = await send('POST', '/auth/login', { body: credentials });
  if (status !== 200) throw new Error(`cannot log in ${credentials.email}: ${body.detail}`);
  tokens.set(name, body.token);
}

async function create({ as, resource, data }) {
  const { status, body } = await send('POST', `/api/${resource}`, { as, body: data });
  if (status === 201) return body.data.id;
  if (status === 409 && resource === 'User') throw new Error('the example users exist already, so nothing was changed');
  throw new Error(`${as} cannot create ${resource}: ${body.detail}`);
}

/** Sends a request that the policies deny, and prints why. */
async function showDenial() {
  const { title, as, resource, record, data } = denial;
  const { status, body } = await send(data === undefined ? 'GET' : 'PUT', `/api/${resource}/${ids.get(record)}`, { as, body: data });
  if (status !== 403) throw new Error(`expected 403 for "${title}", given ${status}`);
  print(`${title}: denied`);
  print(`  reason       ${body.detail}`);
  print(`  explanation  ${url}/console/decisions/${body.decisionId}`);
}

/** Replaces each "@name" by the id of the user or record with this name. */
function withIds(data) {
  const values = Object.entries(data).map(([field, value]) => [
    field,
    typeof value === 'string' && value.startsWith('@') ? ids.get(value.slice(1)) : value,
  ]);
  return Object.fromEntries(values);
}

async function send(method, path, { as, body }) {
  const headers = {
    ...(as !== undefined && { authorization: `Bearer ${tokens.get(as)}` }),
    ...(body !== undefined && { 'content-type': 'application/json' }),
  };
  const response = await fetch(url + path, { method, headers, body: body && JSON.stringify(body) }).catch((error) => {
    throw new Error(`no service at ${url} (${error.cause?.code ?? error.message}); start it with: npm run dev`);
  });
  return { status: response.status, body: await response.json() };
}

/** Returns the email and password of the admin, from the environment or the terminal. */
async function readCredentials() {
  if (ADMIN_EMAIL !== undefined && ADMIN_PASSWORD !== undefined) return { email: ADMIN_EMAIL, password: ADMIN_PASSWORD };
  if (!process.stdin.isTTY) throw new Error('set ADMIN_EMAIL and ADMIN_PASSWORD, because there is no terminal');
  let isShown = false;
  const output = new Writable({ write: (chunk, _encoding, done) => done(isShown ? void process.stdout.write(chunk) : undefined) });
  const terminal = createInterface({ input: process.stdin, output, terminal: true });
  // Both answers can be pasted together, so the password can arrive before its question. It is never shown.
  terminal.on('line', () => (isShown = false));
  const lines = terminal[Symbol.asyncIterator]();
  const readLine = async () => {
    const { done, value } = await lines.next();
    if (done) throw new Error('interrupted; nothing was created');
    return value;
  };
  const askEmail = () => {
    isShown = true;
    terminal.setPrompt('email of the admin: ');
    terminal.prompt();
    return readLine();
  };
  const askPassword = () => {
    process.stdout.write('password of the admin: ');
    return readLine().finally(() => print(''));
  };
  try {
    return { email: ADMIN_EMAIL ?? (await askEmail()), password: ADMIN_PASSWORD ?? (await askPassword()) };
  } finally {
    terminal.close();
  }
}
