import type { Figure } from './measurement.ts';
import { show } from './show.ts';
import { median } from './statistics.ts';

const [WIDTH, NAMES, VALUES] = [860, 250, 150];
const [BAR, GAP, HEAD] = [18, 6, 34];
/** Ours first, then the others; far enough apart for those who see few colours. */
const COLOURS: readonly string[] = ['#1f6feb', '#8c959f', '#bf8700', '#8250df', '#1a7f37', '#cf222e'];
/** From here on, bars are as long as their logarithm: else the shorter ones could not be seen. */
const FAR_APART = 100;

/** A picture of figures as bars, a group for each setting, with the lowest and highest round as a line. */
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
    parts.push(text({ x: 8, y: y + 14, said: setting, bold: true }));
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
    text({ x: 8, y: 20, said: heading, bold: true }),
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
    text({ x: 20, y: y + 13, said: contestant }),
    `<rect x="${NAMES}" y="${y}" width="${lengthOf(middle).toFixed(1)}" height="${BAR}" fill="${colour}"/>`,
    `<path d="M${from} ${y + BAR / 2}H${to}" stroke="#1f2328" stroke-width="2"/>`,
    text({ x: Number(to) + 6, y: y + 13, said: `${show(middle)} ${unit}` }),
  ].join('\n');
}

interface Said {
  readonly x: number;
  readonly y: number;
  readonly said: string;
  readonly bold?: boolean;
}

function text({ x, y, said, bold = false }: Said): string {
  return `<text x="${x.toFixed(1)}" y="${y}" fill="#1f2328"${bold ? ' font-weight="bold"' : ''}>${toXml(said)}</text>`;
}

function toXml(said: string): string {
  return said.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;').replace(/"/g, '&quot;');
}
