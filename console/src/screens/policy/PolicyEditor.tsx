import { Alert, Badge, Group, Tabs, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { discardDraft } from '../../api/draft.ts';
import type { Policy } from '../../api/policies.ts';
import type { Catalogue } from '../../components/condition/condition-paths.ts';
import { LazyPart } from '../../components/LazyPart.tsx';
import { LeaveGuard } from '../../components/LeaveGuard.tsx';
import { Page } from '../../components/Page.tsx';
import { ProblemAlert } from '../../components/ProblemAlert.tsx';
import { WarningBadge } from '../../components/WarningBadge.tsx';
import { newPolicyTexts } from '../../texts/policies.ts';
import { policyTexts as texts } from '../../texts/policy.ts';
import { EditorActions } from './EditorActions.tsx';
import { rulesOf, textOf } from './policy-draft.ts';
import { assignmentsTab, findingsTab, historyTab, keptDraftAlert, previewTab, rulesTab, textTab } from './policy-parts.ts';
import { memberPathOf, NEW_POLICY_TABS, POLICY_TABS, type PolicySearch, parseAssignee } from './policy-search.ts';
import { UnassignedAlert } from './UnassignedAlert.tsx';
import { UnreadableText } from './UnreadableText.tsx';
import { useKeptDraft } from './useKeptDraft.ts';
import type { PolicyEditorState } from './usePolicyEditor.ts';
import { useSharedDraft } from './useSharedDraft.ts';
import { useValidation, type ValidationState } from './useValidation.ts';

/** The paths of the screens that try the draft of the tab. The changes are kept there, and offered again when the policy is opened. */
const TRIES_DRAFT = /\/(?:access|preview|simulator)$/;

/** Properties of an editor. */
interface PolicyEditorProps {
  readonly editor: PolicyEditorState;
  /** The stored version; undefined for a new policy. */
  readonly stored: Policy | undefined;
  readonly catalogue: Catalogue;
  readonly search: PolicySearch;
  readonly children?: ReactNode;
  onSearch(search: PolicySearch): void;
}

/** The screen of a policy: its tabs, and the state of its draft. */
export function PolicyEditor({ editor, stored, catalogue, search, children, onSearch }: PolicyEditorProps) {
  const { base, draft, text, isDirty, change } = editor;
  const validation = useValidation(draft, base?.id);
  // The changes are kept first, because others use the rest of the storage.
  const { kept, isKeeping, decide, discard } = useKeptDraft(editor);
  const isShared = useSharedDraft(editor, base === undefined ? parseAssignee(search.assumed) : undefined);
  const tabs = base === undefined ? NEW_POLICY_TABS : POLICY_TABS;
  const tab = search.tab ?? 'rules';
  // An empty form of a new policy shows no mistakes before the first input or the first attempt to save it.
  const shown = base === undefined && !isDirty && !validation.isTried ? { ...validation, result: undefined } : validation;
  const part = {
    draft,
    catalogue,
    validation: shown,
    onOpenText: () => onSearch({ tab: 'text' }),
    at: memberPathOf(search, rulesOf(draft)),
    onChange: change,
  };
  const title = base === undefined ? newPolicyTexts.title : textOf(draft, 'name') || base.name;
  return (
    <Page
      title={title}
      description={<EditorState editor={editor} validation={validation} />}
      actions={<EditorActions {...{ editor, stored, validation, onSearch }} onSaved={decide} />}
    >
      {base?.managedBy !== undefined && (
        <Alert title={texts.managed.title(base.file ?? '')} mb="sm">
          {texts.managed.detail}
        </Alert>
      )}
      {base !== undefined && tab !== 'assignments' && <UnassignedAlert policyId={base.id} />}
      {!isDirty && children}
      {kept !== undefined && <LazyPart part={keptDraftAlert} props={{ kept, editor, onDecided: decide }} lines={2} />}
      {!isKeeping && <Alert color="yellow">{texts.kept.tooLarge}</Alert>}
      {!isShared && <Alert color="yellow">{texts.kept.notTried}</Alert>}
      {stored !== undefined && base !== undefined && stored.version > base.version && <Alert color="yellow">{texts.newer}</Alert>}
      {validation.error !== null && <ProblemAlert error={validation.error} onRetry={validation.retry} />}
      <Tabs
        value={tab}
        onChange={(next) => onSearch({ ...withoutMember(search), tab: next as (typeof POLICY_TABS)[number] })}
        keepMounted={false}
      >
        <Tabs.List mb="md">
          {tabs.map((each) => (
            <Tabs.Tab key={each} value={each}>
              {texts.tabs[each]}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Tabs.Panel value="rules">
          <UnlessUnreadable editor={editor} onSearch={onSearch}>
            <LazyPart part={rulesTab} props={part} lines={10} />
          </UnlessUnreadable>
        </Tabs.Panel>
        <Tabs.Panel value="text">
          <LazyPart part={textTab} props={{ ...part, text, onText: editor.changeText }} lines={10} />
        </Tabs.Panel>
        <Tabs.Panel value="preview">
          <UnlessUnreadable editor={editor} onSearch={onSearch}>
            <LazyPart part={previewTab} props={{ editor, validation, search, onSearch }} lines={6} />
          </UnlessUnreadable>
        </Tabs.Panel>
        {base !== undefined && <StoredPanels {...{ policy: base, editor, search, onSearch }} />}
      </Tabs>
      <LeaveGuard
        isDirty={isDirty}
        isKeptAt={(path) => isKeeping && text?.mistake === undefined && TRIES_DRAFT.test(path)}
        onLeave={() => {
          discardDraft();
          discard();
        }}
      />
    </Page>
  );
}

/** The forms of a draft; a message while its text cannot be read. */
function UnlessUnreadable({
  editor: { text, discardText },
  children,
  onSearch,
}: Pick<PolicyEditorProps, 'editor' | 'children' | 'onSearch'>) {
  if (text?.mistake === undefined) return children;
  return <UnreadableText mistake={text.mistake} onOpen={() => onSearch({ tab: 'text' })} onDiscard={discardText} />;
}

interface StoredPanelsProps {
  readonly policy: Policy;
  readonly editor: PolicyEditorState;
  readonly search: PolicySearch;
  onSearch(search: PolicySearch): void;
}

function StoredPanels({ policy, editor, search, onSearch }: StoredPanelsProps) {
  return (
    <>
      <Tabs.Panel value="assignments">
        <LazyPart
          part={assignmentsTab}
          props={{ policy, isAssigning: search.assign === true, onAssigned: () => onSearch({ tab: 'assignments' }) }}
          lines={6}
        />
      </Tabs.Panel>
      <Tabs.Panel value="history">
        <LazyPart part={historyTab} props={{ policy, editor, isComparing: search.compare === true, onSearch }} lines={6} />
      </Tabs.Panel>
      <Tabs.Panel value="findings">
        <LazyPart
          part={findingsTab}
          props={{ policyId: policy.id, onOpen: (at) => onSearch({ tab: 'rules', ...(at !== undefined && { at }) }) }}
          lines={6}
        />
      </Tabs.Panel>
    </>
  );
}

interface EditorStateProps {
  readonly editor: PolicyEditorState;
  readonly validation: ValidationState;
}

function EditorState({ editor: { base, draft, text, isDirty }, validation: { result, isStale } }: EditorStateProps) {
  const count = result?.errors.length ?? 0;
  const mistakes = count === 0 ? texts.valid : texts.mistakes(count);
  return (
    <Group gap="xs" mt={4} aria-live="polite">
      {base !== undefined && <Text size="sm">{texts.revision(base.version)}</Text>}
      {draft['isActive'] === false && <Badge color="gray">{texts.inactive}</Badge>}
      {isDirty && <WarningBadge>{texts.unsaved}</WarningBadge>}
      {text?.mistake !== undefined && <Badge color="red">{texts.text.unreadable}</Badge>}
      {isDirty && text?.mistake === undefined && (isStale || result !== undefined) && (
        <Badge color={isStale ? 'gray' : count === 0 ? 'green' : 'red'}>{isStale ? texts.checking : mistakes}</Badge>
      )}
    </Group>
  );
}

function withoutMember({ at: _, rule: _rule, assign: _assign, compare: _compare, ...search }: PolicySearch): PolicySearch {
  return search;
}
