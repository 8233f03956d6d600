import type { Figure } from './measurement.ts';
import { show } from './show.ts';
import { median } from './statistics.ts';

const [WIDTH, NAMES, VALUES] = [860, 250, 150];
const [BAR, GAP, HEAD] = [18, 6, 34];
/** Bailiwick first, then the others. The colours are distinguishable with colour blindness. */
const COLOURS: readonly string[] = ['#1f6feb', '#8c959f', '#bf8700', '#8250df', '#1a7f37', '#cf222e'];
/** Ratio of the longest to the shortest bar above which the scale is logarithmic; otherwise short bars would be invisible. */
const FAR_APART = 100;

/** Renders figures as an SVG bar chart, with a group for each setting and a line from the lowest to the highest round. */
export function renderPlot(title: string, figures: readonly Figure[]): string {
  const values = figures.flatMap(({ rounds }) => rounds).filter((value) => value > 0);
  const [lowest, highest] = [Math.min(...values), Math.max(...values)];
  const isLogarithmic = highest / lowest > FAR_APART;
  const room = WIDTH - NAMES - VALUES;
  const lengthOf = (value: number): number => {
    if (!(value > 0)) return 0;
    return isLogarithmic ? (room * (1 + Math.log10(value / lowest))) / (1 + Math.log10(highest / lowest)) : (room * value) / highest;
  };
  const contestants = [...new Set(figures.map(({ contestant }) => contestant))];
  const parts: string[] = [];
  let y = HEAD;
  for (const [setting, group] of Map.groupBy(figures, (figure) => figure.setting)) {
    parts.push(text({ x: 8, y: y + 14, content: setting, bold: true }));
    y += BAR + GAP;
    for (const figure of group) {
      parts.push(renderBar({ figure, y, lengthOf, colour: COLOURS[contestants.indexOf(figure.contestant) % COLOURS.length] ?? '' }));
      y += BAR + GAP;
    }
  }
  const heading = `${title}${isLogarithmic ? ' (logarithmic)' : ''}`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${y + GAP}" viewBox="0 0 ${WIDTH} ${y + GAP}" role="img" aria-label="${toXml(heading)}" font-family="sans-serif" font-size="12">`,
    `<rect width="100%" height="100%" fill="#ffffff"/>`,
    text({ x: 8, y: 20, content: heading, bold: true }),
    ...parts,
    '</svg>\n',
  ].join('\n');
}

interface Bar {
  readonly figure: Figure;
  readonly y: number;
  readonly colour: string;
  lengthOf(value: number): number;
}

function renderBar({ figure, y, colour, lengthOf }: Bar): string {
  const { contestant, unit, rounds } = figure;
  const middle = median(rounds);
  const [from, to] = [Math.min(...rounds), Math.max(...rounds)].map((value) => (NAMES + lengthOf(value)).toFixed(1)) as [string, string];
  return [
    text({ x: 20, y: y + 13, content: contestant }),
    `<rect x="${NAMES}" y="${y}" width="${lengthOf(middle).toFixed(1)}" height="${BAR}" fill="${colour}"/>`,
    `<path d="M${from} ${y + BAR / 2}H${to}" stroke="#1f2328" stroke-width="2"/>`,
    text({ x: Number(to) + 6, y: y + 13, content: `${show(middle)} ${unit}` }),
  ].join('\n');
}

interface Label {
  readonly x: number;
  readonly y: number;
  readonly content: string;
  readonly bold?: boolean;
}

function text({ x, y, content, bold = false }: Label): string {
  return `<text x="${x.toFixed(1)}" y="${y}" fill="#1f2328"${bold ? ' font-weight="bold"' : ''}>${toXml(content)}</text>`;
}

function toXml(content: string): string {
  return content.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;').replace(/"/g, '&quot;');
}
