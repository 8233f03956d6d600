/** Converts what is written for the repository's view of Markdown: relative links between files, and pictures for light and dark. */
import { dirname, relative, resolve } from 'node:path';
import type { MarkdownRenderer } from 'vitepress';
import { isPage, ROOT, SCHEMAS, toPage } from './pages.ts';

/** The properties that VitePress gives to the rendering of a page. */
interface PageEnvironment {
  readonly path: string;
  readonly realPath?: string;
}

/**
 * Converts links of Markdown pages. A link to a page or a JSON Schema leads to its place on the site; VitePress checks that the page exists. A
 * link to another file leads to the repository; without its address, only the text remains.
 */
export function convertLinks(markdown: MarkdownRenderer, repository: string | undefined): void {
  const render = markdown.renderer.rules['link_open'];
  if (render === undefined) throw new Error('expected a rule of VitePress for links');
  markdown.renderer.rules['link_open'] = (tokens, index, options, env, self) => {
    const token = tokens[index];
    const href = token?.attrGet('href') ?? '';
    if (token === undefined || /^(?:[a-z]+:|#|\/)/.test(href)) return render(tokens, index, options, env, self);
    const { path, hash } = toRepositoryPath(href, env as PageEnvironment);
    if (isPage(path) || SCHEMAS.includes(path.replace(/^docs\//, ''))) {
      token.attrSet('href', `/${toPage(path)}${hash}`);
      return render(tokens, index, options, env, self);
    }
    if (repository !== undefined) {
      token.attrSet('href', `${repository}/blob/main/${path}`);
      return render(tokens, index, options, env, self);
    }
    token.tag = 'span';
    token.attrs = [['title', `${path} in the repository`]];
    const end = tokens.slice(index).find(({ type }) => type === 'link_close');
    if (end !== undefined) end.tag = 'span';
    return self.renderToken(tokens, index, options);
  };
}

/** A `<picture>` with a dark and a light image, as the Markdown view of a repository shows it. */
const PICTURE =
  /<picture>\s*<source media="\(prefers-color-scheme: dark\)" srcset="([^"]+)">\s*<img alt="([^"]*)" src="([^"]+)">\s*<\/picture>/g;

/** Converts pictures into two images, of which the theme of the site shows one: it may differ from that of the system. */
export function convertPictures(markdown: MarkdownRenderer): void {
  const render = markdown.renderer.rules.html_block;
  markdown.renderer.rules.html_block = (tokens, index, options, env, self) => {
    const html = render?.(tokens, index, options, env, self) ?? tokens[index]?.content ?? '';
    return html.replace(PICTURE, (_, dark: string, alt: string, light: string) =>
      [`<img class="light-only" alt="${alt}" src="./${light}">`, `<img class="dark-only" alt="${alt}" src="./${dark}">`].join('\n'),
    );
  };
}

/** Converts `{{` in texts and code, which Vue would take for an expression. */
export function convertBraces(markdown: MarkdownRenderer): void {
  for (const type of ['text', 'code_inline'] as const) {
    const render = markdown.renderer.rules[type];
    if (render === undefined) throw new Error(`expected a rule of VitePress for ${type}`);
    markdown.renderer.rules[type] = (...token) => render(...token).replaceAll('{{', '&#123;&#123;');
  }
}

/** Returns the file that a relative link leads to, relative to the repository. */
function toRepositoryPath(href: string, { path: page, realPath }: PageEnvironment): { readonly path: string; readonly hash: string } {
  const [path = '', hash] = decodeURI(href).split('#');
  const target = resolve(dirname(realPath ?? page), path);
  return { path: relative(ROOT, target).replaceAll('\\', '/'), hash: hash === undefined ? '' : `#${hash}` };
}
