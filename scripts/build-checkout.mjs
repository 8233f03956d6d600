// Builds the program and the console of this checkout if their sources have changed, before `npm start`. A failure is reported and does not end the
// command: the sources run without a build of the program, and the service serves a page about the missing console.
import { buildConsole } from './build-console.mjs';
import { buildProgram } from './build-program.mjs';
import { say } from './setup-lock.mjs';

const results = await Promise.allSettled([buildProgram(), buildConsole()]);
for (const { reason } of results) if (reason !== undefined) say(reason.message);
