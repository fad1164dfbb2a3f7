import { onOff, type Setting, type SettingsReader } from './settings';

/** The setting of the explorer (docs/explorer.md). */
export const EXPLORER_SETTINGS = {
  EXPLORER: {
    about: 'Whether browsers find a GraphQL IDE at /explorer, which asks no other host for anything.',
    unset: 'on with the embedded sandbox, off with a real service',
    ...onOff,
  },
} satisfies Record<string, Setting<unknown>>;

/** Whether there is an explorer. */
export const readExplorer = (reader: SettingsReader, isSandbox: boolean): boolean =>
  reader.get('EXPLORER', EXPLORER_SETTINGS.EXPLORER) ?? isSandbox;
