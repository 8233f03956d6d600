/** Parse Server as a process of its own: `node parse-server-main.ts <port> <database> <key>`. */
import { loadContestant } from '../contestants/install.ts';

/** What is used of it. Said here, because it is installed only where it is measured. */
interface Parse {
  readonly ParseServer: { startApp(options: object): Promise<unknown> };
}

const [port, databaseURI, masterKey] = process.argv.slice(2);
await loadContestant<Parse>('parse-server').ParseServer.startApp({
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
