import { Group, NativeSelect, Stack, Text, TextInput } from '@mantine/core';
import { useMemo, useState } from 'react';
import { builderTexts } from '../../texts/condition-builder.ts';
import { NumberBox } from '../NumberBox.tsx';
import { BuilderContext, useBuilder } from './builder-context.ts';
import { ConditionList } from './ConditionList.tsx';
import classes from './condition.module.css';
import type { RelatedForm } from './condition-json.ts';
import { mistakesAt, otherMistakesAt } from './condition-mistakes.ts';
import { relatedPathsFor } from './condition-paths.ts';
import { RelatedLinks } from './RelatedLinks.tsx';
import { COUNT_KINDS, type CountKind, countKind, isUsableAlias, usedAliases, withAlias, withCountKind } from './related-edits.ts';
import { withResource } from './related-suggestions.ts';

const texts = builderTexts.related;

/** Properties of a condition on related records. */
export interface RelatedInputProps {
  readonly form: RelatedForm;
  /** The path of the member `related`. */
  readonly at: string;
  onChange(form: RelatedForm): void;
}

/** The members of the condition that have fields. */
const WITH_FIELDS: readonly string[] = ['resource', 'as', 'on', 'where', 'atLeast', 'atMost'];

/** A condition on the number of related records: their resource and alias, how they are linked, and which of them count. */
export function RelatedInput({ form, at, onChange }: RelatedInputProps) {
  const builder = useBuilder();
  const { catalogue, options, aliases, issues } = builder;
  const { resource, as, where = [] } = form;
  const inner = useMemo(() => {
    const own = as === '' ? [] : relatedPathsFor(catalogue, resource, as);
    return { ...builder, options: [...own, ...options], aliases: [...aliases, as] };
  }, [builder, catalogue, options, aliases, resource, as]);
  const mistake = otherMistakesAt(issues, at, WITH_FIELDS);
  return (
    <Stack gap="xs" className={classes['group'] ?? ''}>
      <RelatedHead form={form} at={at} onChange={onChange} />
      {mistake !== undefined && (
        <Text size="xs" c="var(--mantine-color-error)">
          {mistake}
        </Text>
      )}
      <RelatedLinks form={form} at={`${at}.on`} onChange={onChange} />
      <fieldset className={classes['item'] ?? ''} aria-label={texts.where}>
        <Text size="sm" fw={500} mb={4} aria-hidden="true">
          {texts.where}
        </Text>
        {where.length === 0 && (
          <Text size="xs" c="dimmed" mb={4}>
            {texts.everyOne}
          </Text>
        )}
        <BuilderContext value={inner}>
          <ConditionList
            conditions={where}
            at={`${at}.where`}
            // The service refuses an empty list; without the member, each linked record counts.
            onChange={(next) => onChange({ ...form, where: next.length === 0 ? undefined : next })}
          />
        </BuilderContext>
      </fieldset>
    </Stack>
  );
}

/** The first line: how many records of which resource, and their alias. */
function RelatedHead({ form, at, onChange }: RelatedInputProps) {
  const builder = useBuilder();
  const { catalogue, issues } = builder;
  const names = catalogue.definitions.map(({ name }) => name);
  return (
    <Group gap={6} align="flex-start">
      <CountInput form={form} at={at} onChange={onChange} />
      <NativeSelect
        label={texts.resource}
        className={classes['operator'] ?? ''}
        data={names.includes(form.resource) ? names : [form.resource, ...names]}
        value={form.resource}
        error={mistakesAt(issues, `${at}.resource`)}
        onChange={({ currentTarget }) => onChange(withResource(form, currentTarget.value, builder))}
      />
      <AliasInput form={form} error={mistakesAt(issues, `${at}.as`)} onChange={onChange} />
    </Group>
  );
}

function CountInput({ form, at, onChange }: RelatedInputProps) {
  const { issues } = useBuilder();
  const { atLeast, atMost } = form;
  const kind = countKind(form);
  const bound = { w: 90, isInteger: true, max: 1_000_000 };
  return (
    <>
      <NativeSelect
        label={texts.count}
        w={130}
        data={COUNT_KINDS.map((value) => ({ value, label: texts.counts[value] }))}
        value={kind}
        onChange={({ currentTarget }) => onChange(withCountKind(form, currentTarget.value as CountKind))}
      />
      {(kind === 'atLeast' || kind === 'between') && (
        <NumberBox
          {...bound}
          label={texts.atLeast}
          min={1}
          value={atLeast}
          error={mistakesAt(issues, `${at}.atLeast`)}
          onChange={(next) => onChange({ ...form, atLeast: next })}
        />
      )}
      {(kind === 'atMost' || kind === 'between') && (
        <NumberBox
          {...bound}
          label={texts.atMost}
          min={1}
          value={atMost}
          error={mistakesAt(issues, `${at}.atMost`)}
          onChange={(next) => onChange({ ...form, atMost: next })}
        />
      )}
    </>
  );
}

interface AliasInputProps {
  readonly form: RelatedForm;
  readonly error: string | undefined;
  onChange(form: RelatedForm): void;
}

/** The alias. A name that paths cannot use is not stored, because the next change could then not find the paths to rename. */
function AliasInput({ form, error, onChange }: AliasInputProps) {
  const { aliases } = useBuilder();
  const [typed, setTyped] = useState<string>();
  const others = usedAliases(form, aliases);
  const isRefused = typed !== undefined && typed !== form.as;
  return (
    <TextInput
      label={texts.alias}
      description={texts.aliasHelp}
      inputWrapperOrder={['label', 'input', 'description', 'error']}
      className={classes['operator'] ?? ''}
      maxLength={32}
      spellCheck={false}
      value={isRefused ? typed : form.as}
      error={isRefused ? texts.aliasInvalid(form.as) : error}
      onChange={({ currentTarget: { value } }) => {
        setTyped(value);
        if (isUsableAlias(value, others)) onChange(withAlias(form, value));
      }}
      onBlur={() => setTyped(undefined)}
    />
  );
}
