// Parse Server as a process of its own: node parse-server-main.mjs <port> <database> <key>. Plain JavaScript, because its
// types are installed with it, and not in this checkout.
import { loadContestant } from '../contestants/install.ts';

const { ParseServer } = loadContestant('parse-server');
const [port, databaseURI, masterKey] = process.argv.slice(2);
await ParseServer.startApp({
  port: Number(port),
  host: '127.0.0.1',
  serverURL: `http://127.0.0.1:${port}/parse`,
  databaseURI,
  appId: 'bench',
  masterKey,
  masterKeyIps: ['127.0.0.1', '::1'],
  silent: true,
  // The log of every request would be a file that nobody reads.
  logLevel: 'error',
  logsFolder: null,
});
