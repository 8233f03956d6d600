import { PROBLEMS } from '../errors.ts';

/** The API page. Its addresses are relative, so that it also works below a prefix that a proxy strips. */
export const PAGE: string = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Bailiwick API</title>
    <link rel="icon" type="image/png" href="docs/favicon-32x32.png">
    <link rel="stylesheet" href="docs/swagger-ui.css">
  </head>
  <body>
    <div id="api"></div>
    <script src="docs/swagger-ui-bundle.js"></script>
    <script src="docs/start.js"></script>
  </body>
</html>
`;

/**
 * Shows the OpenAPI document on the API page. Nothing is sent anywhere else: no validator, no stored token. The document depends on the
 * caller, so it is loaded again when the reader authorizes or logs out.
 */
export const SCRIPT: string = `let token;
const reload = (act, system, change) => (payload) => {
  const done = act(payload);
  token = change(payload);
  system.specActions.download();
  return done;
};
SwaggerUIBundle({
  url: 'openapi.json',
  dom_id: '#api',
  deepLinking: true,
  validatorUrl: null,
  persistAuthorization: false,
  presets: [SwaggerUIBundle.presets.apis],
  plugins: [
    {
      statePlugins: {
        auth: {
          wrapActions: {
            authorize: (act, system) => reload(act, system, (payload) => payload.bearerAuth && payload.bearerAuth.value),
            logout: (act, system) => reload(act, system, () => undefined),
          },
        },
      },
    },
  ],
  requestInterceptor: (request) => {
    if (request.loadSpec && token) request.headers.authorization = 'Bearer ' + token;
    return request;
  },
  layout: 'BaseLayout',
});
`;

/** Every error, each under the anchor that the \`type\` of a problem names. */
export const ERRORS_PAGE: string = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Bailiwick errors</title>
    <link rel="icon" type="image/png" href="favicon-32x32.png">
    <style>body { max-width: 50em; margin: 2em auto; padding: 0 1em; font: 1em/1.5 system-ui, sans-serif } dd { margin-bottom: .75em }</style>
  </head>
  <body>
    <h1>Errors</h1>
    <dl>
${Object.entries(PROBLEMS).map(toEntry).join('\n')}
    </dl>
  </body>
</html>
`;

function toEntry([code, { status, title, hint }]: [
  string,
  { readonly status: number; readonly title: string; readonly hint?: string },
]): string {
  const advice = hint === undefined ? '' : `: ${escapeHtml(hint)}`;
  return `      <dt id="${code}"><code>${code}</code> (${status})</dt>\n      <dd>${escapeHtml(title)}${advice}</dd>`;
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}
