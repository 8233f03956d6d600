import { Card, SimpleGrid, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { OwnResource } from '../../api/own-resources.ts';
import { ownCatalogueQuery } from '../../api/queries.ts';
import { EmptyState } from '../../components/EmptyState.tsx';
import { Page } from '../../components/Page.tsx';
import { QueryState } from '../../components/QueryState.tsx';
import { TextLink } from '../../components/TextLink.tsx';
import { dataTexts as texts } from '../../texts/data.ts';

/** The resources that the caller may use. */
export function ResourcesScreen() {
  const catalogue = useQuery(ownCatalogueQuery);
  return (
    <Page title={texts.title} description={texts.description}>
      <QueryState query={catalogue}>
        {({ resources }) =>
          resources.length === 0 ? (
            <EmptyState title={texts.none.title} detail={texts.none.detail} />
          ) : (
            <SimpleGrid cols={{ base: 1, sm: 2, lg: 3 }}>
              {resources.map((resource) => (
                <ResourceCard key={resource.definition.name} resource={resource} />
              ))}
            </SimpleGrid>
          )
        }
      </QueryState>
    </Page>
  );
}

function ResourceCard({ resource: { definition, permissions } }: { readonly resource: OwnResource }) {
  const actions = permissions.map(({ action, effect }) => (effect === 'conditional' ? `${action} (${texts.conditional})` : action));
  return (
    <Card withBorder>
      <TextLink to="/data/$resource" params={{ resource: definition.name }} fw={600}>
        {definition.name}
      </TextLink>
      {definition.description !== null && <Text size="sm">{definition.description}</Text>}
      <Text size="xs" c="dimmed" mt="xs">
        {texts.actions(actions.join(', '))}
      </Text>
    </Card>
  );
}
