import { describe } from 'vitest';
import { type ConsoleService, it } from './console.fixture.ts';
import { expectInertText, expectSoundScreen, HOSTILE_TEXTS } from './screen-checks.ts';

/** The service in which records, users and policies have hostile texts, and the policy decides a request. */
let planted: Promise<{ readonly userId: string; readonly entryId: string }> | undefined;

async function plant(service: ConsoleService): Promise<{ readonly userId: string; readonly entryId: string }> {
  let planter: { readonly id: string; readonly token: string } = await service.admin();
  for (const [index, text] of HOSTILE_TEXTS.entries()) {
    planter = await service.user({ name: text, role: 'editor' });
    // The policy with the lowest number decides.
    const rule = { resource: 'Article', action: 'list', priority: 900 - index, description: text };
    await service.createPolicy({ name: text, role: 'editor', rules: [rule] });
    await service.createRecord('Article', {
      title: text,
      slug: `hostile-${index}`,
      authorId: planter.id,
      body: text,
      tags: [text.slice(0, 20)],
    });
  }
  const reply = await service.call('GET', '/api/Article', { token: planter.token });
  return { userId: planter.id, entryId: String(reply.headers['x-decision-id']) };
}

describe('hostile texts', () => {
  it.for(['/data/Article', '/users'])('texts that look like markup are shown as texts at %s', async (path, { newsroom, visitor }) => {
    planted ??= plant(newsroom);
    await planted;
    const page = await visitor.open(newsroom, path, { as: await newsroom.admin() });
    await page.waitForLoadState('networkidle');
    for (const text of HOSTILE_TEXTS) await expectInertText(page, text);
    await expectSoundScreen(page);
  });

  it('decisions and their explanation show hostile names of policies, rules and users as texts', async ({ newsroom, visitor }) => {
    planted ??= plant(newsroom);
    const { userId, entryId } = await planted;
    const page = await visitor.open(newsroom, `/decisions?range=1h&userId=${userId}`, { as: await newsroom.admin() });
    await expectInertText(page, HOSTILE_TEXTS.at(-1) ?? '');
    await expectInertText(page, HOSTILE_TEXTS[0] ?? '');
    await expectSoundScreen(page);
    await page.goto(`${newsroom.console}/decisions/${entryId}`);
    await expectInertText(page, HOSTILE_TEXTS[0] ?? '');
    await expectSoundScreen(page);
  });
});
