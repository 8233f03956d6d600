import { Switch, type SwitchProps } from '@mantine/core';

/** A field that is true or false. */
export function SwitchField(props: SwitchProps) {
  return <Switch {...props} />;
}
