// The Node.js that `npm run setup` has installed. Plain JavaScript for Node.js 18, like setup.mjs.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { checkout } from './setup-lock.mjs';

/** Returns the path of the Node.js of the checkout, or else of the one that runs this process. */
export function ownNode() {
  const own = join(checkout, 'node_modules/.bin/node');
  return process.platform !== 'win32' && existsSync(own) ? own : process.execPath;
}
