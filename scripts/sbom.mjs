/**
 * Writes `dist/sbom.json`, the software bill of materials of the package in CycloneDX, from the lockfile and the licences in `dist/`: `npm run sbom`.
 * It lists the dependencies of the package, and the packages whose code is in `dist/`.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';

const root = new URL('../', import.meta.url);
const dist = new URL('dist/', root);
mkdirSync(dist, { recursive: true });

const { components: dependencies, ...document } = readSbom('--omit', 'dev');
const bundled = bundledPackages();
// Files of Swagger UI are copied into dist/ without its code in a chunk.
const added = readSbom().components.filter((each) => bundled.has(nameOf(each)) || nameOf(each).startsWith('@fastify/swagger-ui '));
const missing = [...bundled].filter((name) => !added.some((each) => nameOf(each) === name));
if (missing.length > 0) throw new Error(`the lockfile does not contain ${missing.join(', ')}; run "npm run build" again`);
// The workspaces of the repository are no part of the package.
const published = dependencies.filter(({ name }) => !/^(bailiwick-)?(typescript-client|tests?|site)$/.test(name));
writeFileSync(new URL('sbom.json', dist), `${JSON.stringify({ ...document, components: [...published, ...added] }, undefined, 2)}\n`);

function readSbom(...options) {
  const npm = ['sbom', '--sbom-format', 'cyclonedx', '--package-lock-only', '--workspaces=false', ...options];
  // npm is a script on Windows, which only a shell starts.
  const shell = process.platform === 'win32';
  return JSON.parse(
    execFileSync('npm', npm, { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 26, shell, stdio: ['ignore', 'pipe', 'inherit'] }),
  );
}

/** Returns the packages whose licences precede the chunks of `dist/`, as `name version`. */
function bundledPackages() {
  const files = readdirSync(dist).filter((name) => /\.c?js$/.test(name));
  const texts = files.map((name) => readFileSync(new URL(name, dist), 'utf8'));
  return new Set(texts.flatMap((text) => [...text.matchAll(/^\/\*\n(\S+ \d[\w.-]+): \S/gm)].map(([, name]) => name)));
}

function nameOf({ group, name, version }) {
  return `${group ? `${group}/` : ''}${name} ${version}`;
}
