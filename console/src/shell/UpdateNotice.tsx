import { Button, Group, Paper, Text } from '@mantine/core';
import { postponeReload } from '../api/page-version.ts';
import { useIsPageOutdated } from '../components/useIsPageOutdated.ts';
import { shellTexts } from '../texts/shell.ts';
import classes from './Shell.module.css';

const texts = shellTexts.update;

/** Offers to reload the page after an update of the service. A screen with unsaved changes asks before the page is left. */
export function UpdateNotice() {
  if (!useIsPageOutdated()) return null;
  return (
    <Paper withBorder shadow="md" p="md" role="alert" className={classes['update'] ?? ''}>
      <Text fw={600}>{texts.title}</Text>
      <Text size="sm">{texts.detail}</Text>
      <Group mt="sm">
        <Button size="xs" onClick={() => location.reload()}>
          {texts.reload}
        </Button>
        <Button size="xs" variant="default" onClick={postponeReload}>
          {texts.later}
        </Button>
      </Group>
    </Paper>
  );
}
