import '@mantine/core/styles/baseline.layer.css';
import '@mantine/core/styles/default-css-variables.layer.css';
import '@mantine/core/styles/global.layer.css';
import './reduced-motion.css';
import './isolated-texts.css';
import './long-words.css';
import { MantineProvider } from '@mantine/core';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { watchPageVersion } from './api/page-version.ts';
import { createQueryClient } from './api/queries.ts';
import { followOtherTabs, resumeSession } from './api/session.ts';
import { contentNonce, protectMarkup } from './content-security.ts';
import { createConsoleRouter } from './routes.ts';
import { Messages } from './shell/Messages.tsx';
import { ServiceUnavailable } from './shell/ServiceUnavailable.tsx';
import { UpdateNotice } from './shell/UpdateNotice.tsx';
import { cssVariables, theme } from './theme.ts';

protectMarkup();
watchPageVersion();
followOtherTabs();
const root = document.querySelector('#root');
if (root === null) throw new Error('the page has no element #root');
const reactRoot = createRoot(root);
const queryClient = createQueryClient();
const router = createConsoleRouter(queryClient);

/** Renders the console after the first answer about the session. */
async function start(): Promise<void> {
  try {
    await resumeSession();
    render(<RouterProvider router={router} />);
  } catch (error) {
    render(<ServiceUnavailable error={error} onRetry={start} />);
  }
}

function render(content: React.ReactNode): void {
  reactRoot.render(
    <StrictMode>
      <MantineProvider theme={theme} defaultColorScheme="auto" cssVariablesResolver={cssVariables} getStyleNonce={contentNonce}>
        <QueryClientProvider client={queryClient}>
          <Messages />
          {content}
          <UpdateNotice />
        </QueryClientProvider>
      </MantineProvider>
    </StrictMode>,
  );
}

void start();
