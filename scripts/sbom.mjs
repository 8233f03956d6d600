/** Writes `dist/sbom.json`, the software bill of materials of the package in CycloneDX, from the lockfile: `npm run sbom`. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';

const root = new URL('../', import.meta.url);
const npm = ['sbom', '--sbom-format', 'cyclonedx', '--package-lock-only', '--omit', 'dev', '--workspaces=false'];
// npm is a script on Windows, which only a shell starts.
const text = execFileSync('npm', npm, {
  cwd: root,
  encoding: 'utf8',
  shell: process.platform === 'win32',
  stdio: ['ignore', 'pipe', 'inherit'],
});
const { components, ...document } = JSON.parse(text);
// The example is a workspace of the repository and no part of the package.
const published = components.filter(({ name }) => name !== 'typescript-client' && name !== 'bailiwick-typescript-client');

mkdirSync(new URL('dist', root), { recursive: true });
writeFileSync(new URL('dist/sbom.json', root), `${JSON.stringify({ ...document, components: published }, undefined, 2)}\n`);
