/** Writes `docs/reference/`: `npm run docs`. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { renderReference } from './reference.ts';

const folder = new URL('../docs/reference/', import.meta.url);

mkdirSync(folder, { recursive: true });
for (const [name, content] of renderReference()) writeFileSync(new URL(name, folder), content);
