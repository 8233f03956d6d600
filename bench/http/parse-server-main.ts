/** Runs Parse Server: `node parse-server-main.ts <port> <database> <key>`. */
import { loadContestant } from '../contestants/install.ts';

/** The part of its API that is used. Its own types are installed only with it. */
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
  // A log of every request is not needed.
  logLevel: 'error',
  logsFolder: null,
});
