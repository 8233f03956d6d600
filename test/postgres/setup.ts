/** Passes the address of the server to tests and to the processes that they start. */
import { inject } from 'vitest';
import './server.ts';

const url = inject('postgres');
if (url !== undefined) process.env['TEST_POSTGRES_URL'] = url;
