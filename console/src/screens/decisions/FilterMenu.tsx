import { Button } from '@mantine/core';
import { useState } from 'react';
import { ActionMenu } from '../../components/ActionMenu.tsx';
import { Dialog } from '../../components/Dialog.tsx';
import { createPart, LazyPart } from '../../components/LazyPart.tsx';
import { decisionsTexts as texts } from '../../texts/decisions.ts';
import type { FilterFormProps } from './FilterForm.tsx';
import { FILTER_NAMES, type FilterName } from './search.ts';

const filterForm = createPart<FilterFormProps>(async () => (await import('./FilterForm.tsx')).FilterForm);

/** A menu of the members of entries, each with a form that filters by a value of it. */
export function FilterMenu(props: Pick<FilterFormProps, 'search' | 'onAdd'>) {
  const [name, setName] = useState<FilterName>();
  const close = (): void => setName(undefined);
  return (
    <>
      <ActionMenu
        actions={FILTER_NAMES.map((each) => ({ key: each, label: texts.filters[each], perform: () => setName(each) }))}
        button={(button) => (
          <Button variant="default" {...button}>
            {texts.addFilter.label}
          </Button>
        )}
      />
      <Dialog opened={name !== undefined} onClose={close} title={texts.addFilter.label}>
        {name !== undefined && (
          <LazyPart
            part={filterForm}
            props={{
              name,
              search: props.search,
              onAdd: (filter) => {
                close();
                props.onAdd(filter);
              },
            }}
            lines={3}
          />
        )}
      </Dialog>
    </>
  );
}
