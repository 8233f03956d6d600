/** Tells tests, and the processes that they start, where the server is. */
import { inject } from 'vitest';
import './server.ts';

const url = inject('postgres');
if (url !== undefined) process.env['TEST_POSTGRES_URL'] = url;
