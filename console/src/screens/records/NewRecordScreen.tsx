import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { effectOf, isReadable, useOwnResource } from '../../api/own-resources.ts';
import { createRecord } from '../../api/records.ts';
import { EmptyState } from '../../components/EmptyState.tsx';
import { notifySuccess } from '../../components/notify.ts';
import { Page } from '../../components/Page.tsx';
import { QueryState } from '../../components/QueryState.tsx';
import { NewRecordForm } from '../../components/record-form/NewRecordForm.tsx';
import { TextLink } from '../../components/TextLink.tsx';
import { useScreenWatch } from '../../components/useScreenWatch.ts';
import { dataTexts as texts } from '../../texts/data.ts';
import { newRecordRoute } from './route.ts';

/** The form of a new record. */
export function NewRecordScreen() {
  const { resource: name } = newRecordRoute.useParams();
  const resource = useOwnResource(name);
  const navigate = useNavigate();
  const queryClient = useQueryClient();
  const watch = useScreenWatch();
  const open = async (id: string): Promise<void> => {
    await navigate({ to: '/data/$resource/$id', params: { resource: name, id }, ignoreBlocker: true });
  };
  const openList = async (): Promise<void> => {
    const mayList = resource.data && effectOf(resource.data, 'list') !== 'deny';
    await (mayList
      ? navigate({ to: '/data/$resource', params: { resource: name }, ignoreBlocker: true })
      : navigate({ to: '/data', ignoreBlocker: true }));
  };
  const create = async (body: object): Promise<void> => {
    const isOpen = watch();
    const { id } = await createRecord(name, body, () => queryClient.invalidateQueries({ queryKey: ['records', name] }));
    // The record is stored now. If its permissions cannot be loaded, the form must not offer to create it again.
    const mayRead = resource.data ? await isReadable(queryClient, resource.data, id).catch(() => false) : false;
    notifySuccess(mayRead ? texts.record.created : texts.record.createdUnread(id));
    if (isOpen()) await (mayRead ? open(id) : openList());
  };
  const records = (
    <TextLink to="/data/$resource" params={{ resource: name }}>
      {texts.record.back(name)}
    </TextLink>
  );
  return (
    <Page title={`${texts.create} · ${name}`}>
      <QueryState query={resource} lines={8}>
        {(found) =>
          found === null || effectOf(found, 'create') === 'deny' ? (
            <EmptyState title={texts.refused('create')} action={records} />
          ) : (
            <NewRecordForm
              key={name}
              definition={found.definition}
              submit={texts.record.create}
              create={create}
              records={records}
              onCancel={() => void navigate({ to: '/data/$resource', params: { resource: name } })}
            />
          )
        }
      </QueryState>
    </Page>
  );
}
