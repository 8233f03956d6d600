/** Writes `docs/reference/` and the types of the console and of the client: `npm run docs`. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { CLIENT_TYPES, renderServiceTypes } from './client-types.ts';
import { CONSOLE_TYPES, renderConsoleTypes } from './console-types.ts';
import { renderReference } from './reference.ts';

const folder = new URL('../docs/reference/', import.meta.url);

mkdirSync(folder, { recursive: true });
for (const [name, content] of renderReference()) writeFileSync(new URL(name, folder), content);
mkdirSync(dirname(CONSOLE_TYPES), { recursive: true });
writeFileSync(CONSOLE_TYPES, renderConsoleTypes());
writeFileSync(CLIENT_TYPES, renderServiceTypes());
