/** Passes the address of the server to tests and to the processes that they start, and the programs of PostgreSQL to tests that start a server. */
import { inject } from 'vitest';
import './server.ts';

const url = inject('postgres');
if (url !== undefined) process.env['TEST_POSTGRES_URL'] = url;

const home = inject('postgresHome');
if (home !== undefined) process.env['TEST_POSTGRES_HOME'] = home;
