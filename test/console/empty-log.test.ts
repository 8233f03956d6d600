/** The audit log without entries. */
import { describe, expect } from 'vitest';
import { it } from './console.fixture.ts';
import { expectSoundScreen } from './screen-checks.ts';

describe('an audit log without entries', () => {
  it('offers all times if the chosen time has no entries', async ({ newsroom, story, visitor }) => {
    const page = await visitor.open(newsroom, '/decisions?from=2001-01-01T00:00:00Z&to=2001-02-01T00:00:00Z', { as: story.admin });
    await page.getByText('No request was decided in this time').waitFor();
    await expectSoundScreen(page);
    await page.getByRole('button', { name: 'Show all times' }).click();
    await page.getByRole('table', { name: 'Decisions' }).waitFor();
    expect(new URL(page.url()).search).toBe('?range=all');
  });

  it('leads an admin to the first request', async ({ newsroom, story, visitor }) => {
    const page = await visitor.open(newsroom, '/account', { as: story.admin });
    // The sign-in has an entry, so a log is empty only after the retention has removed it.
    await page.route(/\/admin\/api\/decisions\?/, (route) => route.fulfill({ json: { success: true, data: [], count: 0 } }));
    await page.goto(`${newsroom.console}/decisions?range=all`);
    await page.getByText('No request was decided yet').waitFor();
    await page.getByRole('button', { name: 'Send a first request' }).click();
    await page.getByRole('heading', { name: 'First steps', level: 1 }).waitFor();
  });
});
