import { NativeSelect } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { templatesQuery } from '../../api/policies.ts';
import { catalogueQuery } from '../../api/queries.ts';
import type { Catalogue } from '../../components/condition/condition-paths.ts';
import { QueryState } from '../../components/QueryState.tsx';
import { newPolicyTexts as texts } from '../../texts/policies.ts';
import { PolicyEditor } from './PolicyEditor.tsx';
import { type DraftJson, EMPTY_POLICY, fromTemplate } from './policy-draft.ts';
import type { PolicySearch } from './policy-search.ts';
import { newPolicyRoute } from './route.ts';
import { usePolicyEditor } from './usePolicyEditor.ts';

/** Creates a policy, from a template or empty. */
export function NewPolicyScreen() {
  const search = newPolicyRoute.useSearch();
  const navigate = newPolicyRoute.useNavigate();
  const templates = useQuery(templatesQuery);
  const catalogue = useQuery(catalogueQuery);
  const initial = templates.data?.find(({ id }) => id === search.template)?.template as DraftJson | undefined;
  const needed = search.template === undefined || templates.data !== undefined ? catalogue : templates;
  return (
    <QueryState query={{ ...needed, data: needed === catalogue ? catalogue.data : undefined }} lines={12}>
      {(data) => (
        <NewPolicy
          key={search.template ?? ''}
          catalogue={data}
          initial={initial === undefined ? EMPTY_POLICY : fromTemplate(initial)}
          search={search}
          // Without its template, the editor would begin again. The assumed assignment belongs to the draft.
          onSearch={(next) => void navigate({ search: { ...keptSearch(search), ...next }, replace: true })}
        >
          <NativeSelect
            label={texts.template}
            w={280}
            data={[{ value: '', label: texts.empty }, ...(templates.data ?? []).map(({ id, name }) => ({ value: id, label: name }))]}
            value={search.template ?? ''}
            description={templates.data?.find(({ id }) => id === search.template)?.description ?? texts.emptyDetail}
            onChange={({ currentTarget: { value: template } }) =>
              void navigate({ search: template === '' ? {} : { template }, replace: true })
            }
          />
        </NewPolicy>
      )}
    </QueryState>
  );
}

/** Returns the parameters that stay when another tab or member is shown. */
function keptSearch({ template, assumed }: PolicySearch): PolicySearch {
  return { ...(template !== undefined && { template }), ...(assumed !== undefined && { assumed }) };
}

interface NewPolicyProps {
  readonly catalogue: Catalogue;
  readonly initial: DraftJson;
  readonly search: PolicySearch;
  readonly children: React.ReactNode;
  onSearch(search: PolicySearch): void;
}

function NewPolicy({ catalogue, initial, search, children, onSearch }: NewPolicyProps) {
  const editor = usePolicyEditor(undefined, initial);
  return (
    <PolicyEditor editor={editor} stored={undefined} catalogue={catalogue} search={search} onSearch={onSearch}>
      {children}
    </PolicyEditor>
  );
}
