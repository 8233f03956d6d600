import react from '@vitejs/plugin-react';
import { defineConfig, type UserConfig } from 'vite';
import { CHUNK_GROUPS } from './chunk-groups.ts';
import { componentStyles } from './component-styles.ts';

/** Address of the running service to which the development server sends requests to the API. */
const SERVICE = process.env['BAILIWICK_URL'] ?? 'http://127.0.0.1:8787';

/** The service serves the files at `/console/`, and replaces the placeholder of the nonce in `index.html` for each response. */
const config: UserConfig = defineConfig({
  base: '/console/',
  plugins: [react(), componentStyles()],
  html: { cspNonce: '__CSP_NONCE__' },
  build: {
    outDir: '../dist/console',
    emptyOutDir: true,
    target: 'es2023',
    modulePreload: { polyfill: false },
    // The content security policy allows no `data:` scripts, and few files are small enough to be inlined.
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    // The licences of the packages in the build require their texts to be distributed with it.
    license: { fileName: 'licenses.md' },
    rolldownOptions: { output: { codeSplitting: { groups: CHUNK_GROUPS } } },
  },
  server: {
    proxy: Object.fromEntries(['/api', '/admin/api', '/auth', '/openapi.json', '/readyz'].map((path) => [path, SERVICE])),
  },
});

export default config;
