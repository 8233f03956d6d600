import { copyFileSync, readFileSync } from 'node:fs';
import { defineConfig, type UserConfig } from 'vitepress';
import { toAnchor } from '../../scripts/markdown.ts';
import { convertBraces, convertLinks, convertPictures } from '../conversions.ts';
import { convertDiagrams } from '../diagrams.ts';
import { createSidebar, listExcluded, ROOT, SCHEMAS, toPage } from '../pages.ts';

const { description, repository } = JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8')) as {
  readonly description: string;
  readonly repository?: { readonly url: string };
};
/** The address of the repository for browsers, if package.json has one. */
const address = repository?.url.replace(/^git\+/, '').replace(/\.git$/, '');

const config: UserConfig = defineConfig({
  title: 'Bailiwick',
  description,
  lang: 'en',
  srcDir: '..',
  srcExclude: listExcluded(),
  rewrites: toPage,
  outDir: 'dist',
  cacheDir: '../node_modules/.cache/site',
  // Pages name the addresses of services on the own machine.
  ignoreDeadLinks: 'localhostLinks',
  markdown: {
    // The anchors of a repository's view of Markdown: a link to a heading works in both.
    anchor: { slugify: toAnchor },
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    // Policies contain `${…}`; code of CEL is close to that of JavaScript.
    languageAlias: { cel: 'js' },
    config(markdown) {
      convertLinks(markdown, address);
      convertPictures(markdown);
      convertDiagrams(markdown);
      convertBraces(markdown);
    },
  },
  buildEnd({ outDir }) {
    for (const path of SCHEMAS) copyFileSync(`${ROOT}docs/${path}`, `${outDir}/${path}`);
  },
  themeConfig: {
    nav: [
      { text: 'Start', link: '/guides/new-project' },
      { text: 'Tutorial', link: '/tutorial/' },
      { text: 'Guides', link: '/guides/' },
      { text: 'Reference', link: '/reference/settings' },
      { text: 'Decisions', link: '/decisions/' },
      { text: 'Benchmarks', link: '/benchmarks' },
    ],
    sidebar: createSidebar(),
    outline: [2, 3],
    search: { provider: 'local' },
    ...(address !== undefined && {
      editLink: { pattern: `${address}/edit/main/:path` },
      socialLinks: [{ icon: 'github', link: address }],
    }),
  },
});

export default config;
