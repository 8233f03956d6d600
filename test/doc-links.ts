/** Checks the links and commands of Markdown pages. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { toAnchor } from '../scripts/markdown.ts';

/** Returns the Markdown pages below a folder, without those of dependencies and fixtures. */
export function listPages(root: string): readonly string[] {
  return readdirSync(root, { recursive: true, encoding: 'utf8' }).filter(
    (path) => path.endsWith('.md') && !/(^|\/)(node_modules|dist|data|fixtures|\.bench)\//.test(path),
  );
}

/** Returns each relative link of a page that leads to no file, or to no heading of its file. */
export function findBrokenLinks(root: string, page: string): readonly string[] {
  const links = withoutCode(readFileSync(join(root, page), 'utf8')).matchAll(/\]\(([^)\s]+)\)/g);
  return [...links].flatMap(([, link = '']) => {
    if (/^[a-z]+:/.test(link)) return [];
    const [path = '', heading] = link.split('#');
    const target = path === '' ? join(root, page) : join(root, dirname(page), path);
    if (!existsSync(target)) return [`${page}: ${link} leads to no file`];
    if (heading === undefined || headingsOf(target).includes(heading)) return [];
    return [`${page}: ${link} leads to no heading`];
  });
}

/** Returns the pictures of a page: the relative addresses in its Markdown images, `<img>` and `<source>`. */
export function namedPictures(text: string): readonly string[] {
  const found = withoutCode(text).matchAll(/!\[[^\]]*\]\(([^)\s]+)\)|\b(?:src|srcset)="([^"\s]+)"/g);
  return [...found].map(([, markdown, html]) => markdown ?? html ?? '').filter((address) => !/^[a-z]+:/.test(address));
}

/** Returns the npm scripts in the commands of a page. */
export function namedScripts(text: string): readonly string[] {
  return [...text.matchAll(/\bnpm (?:run ([a-z]\w*(?::\w+)*)|(start|test)\b)/g)].map(([, run, short]) => run ?? short ?? '');
}

/** Returns the anchors of a page. */
function headingsOf(path: string): readonly string[] {
  return [...withoutBlocks(readFileSync(path, 'utf8')).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => toAnchor(heading));
}

function withoutBlocks(markdown: string): string {
  return markdown.replace(/^```[\s\S]*?^```$/gm, '');
}

function withoutCode(markdown: string): string {
  return withoutBlocks(markdown).replace(/`[^`\n]*`/g, '');
}
