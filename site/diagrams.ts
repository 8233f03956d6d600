/** Draws Mermaid diagrams as images when the site is built. A repository's view of Markdown draws them itself. */
import { type RenderOptions, renderMermaidSVG } from 'beautiful-mermaid';
import type { MarkdownRenderer } from 'vitepress';

/** The colours of the theme. An image has none of the page, so that each diagram has two. */
const LOOKS: Readonly<Record<'light' | 'dark', RenderOptions>> = {
  light: { bg: '#ffffff', fg: '#3c3c43', muted: '#4f4f57', line: '#67676c', accent: '#1864ab', border: '#c2c2c4' },
  dark: { bg: '#1b1b1f', fg: '#dfdfd6', muted: '#b6b6b0', line: '#98989f', accent: '#74c0fc', border: '#515c67' },
};

const LAYOUT: RenderOptions = { padding: 16, layerSpacing: 28, transparent: true };

/** The line of a diagram that says what it shows, for readers who do not see it. */
const TITLE = /^ *accTitle: *(.+)\n/m;

/** The font that the renderer loads from another host. Without it, diagrams have a font of the system. */
const FONT_IMPORT = /^ *@import url\(.*\);\n/m;

/** Converts blocks of Mermaid into an image for each theme, of which the page shows one. */
export function convertDiagrams(markdown: MarkdownRenderer): void {
  const render = markdown.renderer.rules.fence;
  markdown.renderer.rules.fence = (tokens, index, options, env, self) => {
    const token = tokens[index];
    if (token?.info.trim() === 'mermaid') return drawDiagram(token.content, markdown.utils.escapeHtml);
    return render?.(tokens, index, options, env, self) ?? '';
  };
}

function drawDiagram(source: string, toHtml: (text: string) => string): string {
  const title = TITLE.exec(source)?.[1];
  if (title === undefined) throw new Error(`expected the line "accTitle: …" in the diagram:\n${source}`);
  const images = (['light', 'dark'] as const).map((theme) => {
    const svg = drawSvg(source.replace(TITLE, ''), theme);
    return `<img class="${theme}-only" alt="${toHtml(title)}" src="data:image/svg+xml;base64,${Buffer.from(svg).toString('base64')}">`;
  });
  return `<div class="diagram" tabindex="0">${images.join('')}</div>\n`;
}

/** @throws Error if the diagram loads anything from another host */
function drawSvg(source: string, theme: 'light' | 'dark'): string {
  const svg = renderMermaidSVG(source, { ...LAYOUT, ...LOOKS[theme] }).replace(FONT_IMPORT, '');
  const [address] = svg.replaceAll('http://www.w3.org/', '').match(/https?:\/\/[^'")]+/) ?? [];
  if (address !== undefined) throw new Error(`expected a diagram without addresses of other hosts, given ${address}`);
  return svg;
}
