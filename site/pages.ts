/** The pages of the site: where each Markdown file of the repository is, and the navigation. */
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The folder of the repository. */
export const ROOT: string = fileURLToPath(new URL('..', import.meta.url));

/** Folders whose Markdown files are pages. */
const FOLDERS = ['docs', 'site'];

/** Pages of the repository that are outside these folders, with their place on the site. */
const OUTSIDE: ReadonlyMap<string, string> = new Map([
  ['ARCHITECTURE.md', 'contribute/architecture.md'],
  ['CONTRIBUTING.md', 'contribute/contributing.md'],
  ['SECURITY.md', 'contribute/security.md'],
  ['CHANGELOG.md', 'changelog.md'],
]);

/** The JSON Schemas of the reference, relative to `docs`. They are copied to the site. */
export const SCHEMAS: readonly string[] = readdirSync(`${ROOT}docs/reference`)
  .filter((name) => name.endsWith('.json'))
  .map((name) => `reference/${name}`);

/** The guides by the way of a reader. Each page of `docs/guides` is in one group. */
const GUIDES: readonly (readonly [group: string, pages: readonly string[]])[] = [
  ['Model your data', ['definitions', 'migrations']],
  ['Control access', ['policies', 'managing-policies', 'policy-files', 'models', 'identity', 'audit-log', 'security']],
  ['Use it', ['console', 'api', 'client', 'browser', 'transfer']],
  ['Operate', ['operating', 'deploying', 'backup', 'scale']],
];

/** Pages of `docs/guides` that are in the group *Start*. */
const STARTING = ['new-project'];

/** An entry of the navigation beside a page. */
export interface SidebarItem {
  readonly text: string;
  readonly link?: string;
  readonly collapsed?: boolean;
  readonly items?: SidebarItem[];
}

/** Returns the place of a Markdown file on the site: `docs/guides/api.md` → `guides/api.md`. */
export function toPage(path: string): string {
  if (path === 'site/index.md' || path === 'README.md') return 'index.md';
  if (path === 'docs/README.md') return 'guides/index.md';
  return OUTSIDE.get(path) ?? path.replace(/^docs\//, '').replace(/README\.md$/, 'index.md');
}

/** Returns true if a file of the repository is a page. README.md is one, because the front page takes its place. */
export function isPage(path: string): boolean {
  return path.endsWith('.md') && (path === 'README.md' || OUTSIDE.has(path) || FOLDERS.some((folder) => path.startsWith(`${folder}/`)));
}

/** Returns patterns of the Markdown files that are no pages. */
export function listExcluded(): string[] {
  const entries = readdirSync(ROOT, { withFileTypes: true });
  const folders = entries.filter((entry) => entry.isDirectory() && !FOLDERS.includes(entry.name));
  const files = entries.filter(({ name }) => name.endsWith('.md') && !OUTSIDE.has(name));
  return [...folders.map(({ name }) => `${name}/**`), ...files.map(({ name }) => name), '**/node_modules/**', 'site/dist/**'];
}

/** Returns the navigation. Throws if a guide is in no group, or if a group names a page that does not exist. */
export function createSidebar(): SidebarItem[] {
  const grouped = [...STARTING, ...GUIDES.flatMap(([, pages]) => pages)];
  const forgotten = listPages('guides').filter((name) => !grouped.includes(name));
  if (forgotten.length > 0) throw new Error(`site/pages.ts: put ${forgotten.join(', ')} into a group of GUIDES`);
  return [
    { text: 'Start', items: STARTING.map((name) => itemOf('guides', name)) },
    { text: 'Tutorial', items: itemsOf('tutorial') },
    { text: 'Coming from another system', collapsed: true, items: itemsOf('coming-from') },
    ...GUIDES.map(([text, pages]) => ({ text, items: pages.map((name) => itemOf('guides', name)) })),
    { text: 'Reference', collapsed: true, items: itemsOf('reference') },
    { text: 'Benchmarks', link: '/benchmarks' },
    {
      text: 'Design',
      collapsed: true,
      items: [
        { text: 'Architecture', link: '/contribute/architecture' },
        { text: 'Contributing', link: '/contribute/contributing' },
        { text: 'Decisions', link: '/decisions/', collapsed: true, items: listPages('decisions').map((name) => itemOf('decisions', name)) },
        { text: 'Changelog', link: '/changelog' },
      ],
    },
  ];
}

/** Returns the pages of a folder of `docs`, with its README first. */
function itemsOf(folder: string): SidebarItem[] {
  const names = readdirSync(`${ROOT}docs/${folder}`);
  const first = names.includes('README.md') ? [{ text: titleOf(`docs/${folder}/README.md`), link: `/${folder}/` }] : [];
  return [...first, ...listPages(folder).map((name) => itemOf(folder, name))];
}

function itemOf(folder: string, name: string): SidebarItem {
  return { text: titleOf(`docs/${folder}/${name}.md`), link: `/${folder}/${name}` };
}

function listPages(folder: string): readonly string[] {
  const names = readdirSync(`${ROOT}docs/${folder}`).filter((name) => name.endsWith('.md') && name !== 'README.md');
  return names.map((name) => name.slice(0, -'.md'.length)).sort();
}

/** Returns the first heading of a page. */
function titleOf(path: string): string {
  const [, title] = /^# (.+)$/m.exec(readFileSync(`${ROOT}${path}`, 'utf8')) ?? [];
  if (title === undefined) throw new Error(`${path} has no heading`);
  return title.replaceAll('`', '');
}
