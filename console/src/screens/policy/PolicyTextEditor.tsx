import { Alert, List, SegmentedControl, Stack } from '@mantine/core';
import { useEffect, useMemo } from 'react';
import { CodeEditor } from '../../components/code/CodeEditor.tsx';
import type { CodeMistake } from '../../components/code/code-editor-props.ts';
import { policyTexts } from '../../texts/policy.ts';
import { isSame, type PolicyText } from './policy-draft.ts';
import { locateMember, parsePolicy, printPolicy } from './policy-text.ts';
import type { DraftTabProps } from './RulesTab.tsx';

const texts = policyTexts.text;

/** Properties of the text. */
export interface TextTabProps extends DraftTabProps {
  /** The typed text; undefined before the tab is opened. The parent keeps it, also while it is unreadable. */
  readonly text: PolicyText | undefined;
  onText(text: PolicyText): void;
}

/** The draft as JSON or YAML. Mistakes are marked at their members. */
export function PolicyTextEditor({ draft, validation, text: typed, onText, onChange }: TextTabProps) {
  const { format, text } = useMemo(() => typed ?? { format: 'json' as const, text: printPolicy(draft, 'json') }, [typed, draft]);
  const parsed = useMemo(() => parsePolicy(text, format), [text, format]);
  const isInvalid = 'mistake' in parsed;
  const isOutdated = !isInvalid && !isSame(parsed.draft, draft);
  // The forms, discarding and merging replace the draft.
  useEffect(() => {
    if (isOutdated) onText({ format, text: printPolicy(draft, format) });
  }, [isOutdated, format, draft, onText]);
  const { result, isStale } = validation;
  const errors = result?.errors ?? [];
  const mistakes = useMemo((): readonly CodeMistake[] => {
    if ('mistake' in parsed) return [parsed.mistake];
    if (isStale) return [];
    const found = [
      ...(result?.errors ?? []).map(({ path, detail }) => ({ path, message: detail, severity: 'error' as const })),
      ...(result?.warnings ?? []).map(({ path = '', detail }) => ({ path, message: detail, severity: 'warning' as const })),
    ];
    return found.map(({ path, ...mistake }) => ({ ...mistake, ...locateMember(text, path) }));
  }, [parsed, text, result, isStale]);
  return (
    <Stack>
      <SegmentedControl
        w="fit-content"
        aria-label={texts.format}
        disabled={isInvalid}
        data={[
          { value: 'json', label: 'JSON' },
          { value: 'yaml', label: 'YAML' },
        ]}
        value={format}
        onChange={(next) => {
          const chosen = next as PolicyText['format'];
          onText({ format: chosen, text: printPolicy(draft, chosen) });
        }}
      />
      {isInvalid && <Alert color="red">{`${texts.invalid} ${parsed.mistake.message}`}</Alert>}
      {!isInvalid && errors.length > 0 && (
        <Alert color="red" title={policyTexts.otherMistakes}>
          <List size="sm">
            {errors.map(({ path, detail }) => (
              <List.Item key={`${path} ${detail}`}>{`${path}: ${detail}`}</List.Item>
            ))}
          </List>
        </Alert>
      )}
      <CodeEditor
        label={texts.label}
        language={format}
        value={text}
        mistakes={mistakes}
        minHeight={360}
        onChange={(next) => {
          const read = parsePolicy(next, format);
          onText({ format, text: next, ...('mistake' in read && { mistake: read.mistake.message }) });
          if ('draft' in read) onChange(read.draft);
        }}
      />
    </Stack>
  );
}
