import { Button, Code, Group, Stack, Text } from '@mantine/core';
import { useMemo, useState } from 'react';
import type { Policy } from '../../api/policies.ts';
import { isRecord } from '../../components/condition/condition-json.ts';
import { Dialog } from '../../components/Dialog.tsx';
import { createPart, LazyPart } from '../../components/LazyPart.tsx';
import { MergeChoice } from '../../components/MergeChoice.tsx';
import { commonTexts } from '../../texts/common.ts';
import { policyTexts } from '../../texts/policy.ts';
import { sentence } from '../../texts/sentence.ts';
import { type Conflict, mergePolicies } from './merge-policies.ts';
import { type DraftJson, type PolicyText, textOf, toDraft } from './policy-draft.ts';

const texts = policyTexts.merging;

/** Loaded when it is first shown, because it needs the editor and the parser of YAML. */
const textMerge = createPart(async () => (await import('./TextMerge.tsx')).TextMerge);

/** Properties of the dialog. */
export interface MergeModalProps {
  /** The version that both changes began with. */
  readonly base: Policy;
  readonly mine: DraftJson;
  readonly theirs: Policy;
  /** The format of a merge as text. */
  readonly format: PolicyText['format'];
  onMerged(draft: DraftJson): void;
  onClose(): void;
}

/**
 * Merges a draft with a version that another admin has stored: by choices, or as text where both changes of a rule are wanted. The draft stays if
 * the dialog is closed.
 */
export function MergeModal({ base, mine, theirs, format, onMerged, onClose }: MergeModalProps) {
  const merge = useMemo(() => mergePolicies({ base: toDraft(base), mine, theirs: toDraft(theirs) }), [base, mine, theirs]);
  const [chosen, setChosen] = useState<ReadonlyMap<string, 'mine' | 'theirs'>>(new Map());
  const [isText, setText] = useState(false);
  const merged = useMemo(() => merge.resolve(chosen), [merge, chosen]);
  return (
    <Dialog opened onClose={onClose} size="xl" title={texts.title}>
      {isText ? (
        <LazyPart part={textMerge} props={{ merged, theirs: toDraft(theirs), format, onMerged, onClose }} lines={8} />
      ) : (
        <Stack>
          <Text size="sm">{merge.conflicts.length === 0 ? texts.none : texts.detail}</Text>
          {merge.takenOver > 0 && <Text size="sm">{texts.takenOver(merge.takenOver)}</Text>}
          {merge.conflicts.map((conflict) => (
            <ConflictCard
              key={conflict.key}
              conflict={conflict}
              chosen={chosen.get(conflict.key) ?? 'mine'}
              onChoose={(version) => setChosen(new Map(chosen).set(conflict.key, version))}
            />
          ))}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              {commonTexts.cancel}
            </Button>
            <Button variant="default" onClick={() => setText(true)}>
              {texts.asText}
            </Button>
            <Button data-autofocus onClick={() => onMerged(merged)}>
              {texts.apply}
            </Button>
          </Group>
        </Stack>
      )}
    </Dialog>
  );
}

interface ConflictCardProps {
  readonly conflict: Conflict;
  readonly chosen: 'mine' | 'theirs';
  onChoose(version: 'mine' | 'theirs'): void;
}

function ConflictCard({ conflict, chosen, onChoose }: ConflictCardProps) {
  return (
    <MergeChoice name={nameOf(conflict)} texts={texts} chosen={chosen} onChoose={onChoose}>
      <VersionValue title={texts.base} value={conflict.base} />
      <VersionValue title={texts.mine} value={conflict.mine} />
      <VersionValue title={texts.theirs} value={conflict.theirs} />
    </MergeChoice>
  );
}

function VersionValue({ title, value }: { readonly title: string; readonly value: unknown }) {
  return (
    <div style={{ minWidth: 0 }}>
      <Text size="xs" c="dimmed">
        {title}
      </Text>
      <Code block style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
        {value === undefined ? texts.absent : JSON.stringify(value, null, 2)}
      </Code>
    </div>
  );
}

function nameOf({ key, subject, mine, theirs, base }: Conflict): string {
  if (subject === 'member') return key;
  const rule = [mine, theirs, base].find(isRecord);
  return rule === undefined ? key : textOf(rule, 'description') || sentence`${textOf(rule, 'action')} ${textOf(rule, 'resource')}`;
}
