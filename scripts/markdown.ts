/** Parts of generated Markdown pages, and the anchors of all pages. */

/** Returns a page with a note that it is generated. */
export function page(title: string, parts: readonly string[]): string {
  return `# ${title}\n\n<!-- made by npm run docs: change the table in src/ instead -->\n\n${parts.join('\n\n')}\n`;
}

/** Returns a table. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|').replaceAll('\n', ' ')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

/** Returns text as code. */
export function code(text: string): string {
  const fence = '`'.repeat(Math.max(0, ...[...text.matchAll(/`+/g)].map(([run]) => run.length)) + 1);
  return fence.length === 1 ? `\`${text}\`` : `${fence} ${text} ${fence}`;
}

/** Returns text that contains no HTML: `<id>` would otherwise be an element, which is not shown. */
export function plain(text: string): string {
  return text.replaceAll('<', '&lt;');
}

/** Returns the anchor of a heading, as GitHub derives it. */
export function toAnchor(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(' ', '-');
}
