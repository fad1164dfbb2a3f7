import type { Command } from 'commander';
import { DESCRIPTION_BY_SCOPE } from '../auth/caller';
import { JSON_OPTION_ARGS, addCommand, type CreateAction } from './command-definitions';
import { parseDuration, parseList, parsePositiveDuration } from './options';

const CLIENT_ID_ARGUMENT = ['<id>', 'the id of the client'] as const;
const KEYS_FILE_OPTION_ARGS = ['--file <clients.json>', 'the file that CLIENT_KEYS_FILE names'] as const;
const LABEL_OPTION_ARGS = [
  '--label <label>',
  'label of the key: letters, digits, dots, dashes, underscores; the first 8 digits of keySha256 if omitted',
] as const;

const SCOPE_HELP_LINES = Object.entries(DESCRIPTION_BY_SCOPE).map(
  ([scope, text]) => `  ${scope.padEnd(20)} ${text.replaceAll('. ', `.\n${' '.repeat(23)}`)}`,
);

const loadClientKeyCommands = () => import('./commands/client-key.js');

/** Defines the `client-key` commands, which manage the keys of internal services (clients). */
export function defineClientKeyCommands(program: Command, createAction: CreateAction): void {
  const clientKeyCommand = addCommand(program, 'client-key', {
    summary: 'create, list and revoke the keys of internal services (clients)',
    description: `Creates, lists and revokes keys of internal services (clients). A key is printed once and not stored; CLIENT_KEYS_FILE
contains only its SHA-256. docs/security.md describes the rotation of keys.`,
    examples: [
      'paygraph client-key new shop-backend --file clients.json --expires-in 365d',
      'paygraph client-key new reports --scopes payments:read,payouts:read --file clients.json',
      'paygraph client-key rotate shop-backend --file clients.json --old-expires-in 7d',
      'paygraph client-key list --file clients.json --metrics http://127.0.0.1:4000/metrics',
      'paygraph client-key revoke shop-backend --key 5f2b01ac --file clients.json',
    ],
  }).addHelpText('after', `\nScopes:\n${SCOPE_HELP_LINES.join('\n')}`);
  defineNewAndRotateCommands(clientKeyCommand, createAction);
  defineListAndRevokeCommands(clientKeyCommand, createAction);
}

function defineNewAndRotateCommands(clientKeyCommand: Command, createAction: CreateAction): void {
  addCommand(clientKeyCommand, 'new', { summary: 'create the first key of a client' })
    .argument('<id>', 'the id of the client: letters, digits, dots, dashes, underscores')
    .option('--scopes <scope,…>', 'scopes of the client; all but cards:direct if omitted', parseList)
    .option('--channels <uuid,…>', 'merchant channels of the client; all if omitted', parseList)
    .option(...LABEL_OPTION_ARGS)
    .option(
      '--expires-in <time>',
      'lifetime of the key, such as 90d; unlimited if omitted',
      parsePositiveDuration,
    )
    .option(
      '--file <clients.json>',
      'CLIENT_KEYS_FILE to add the entry to, created if it does not exist; if omitted, the entry is printed',
    )
    // If a list contains a space, the rest of it is an excess argument. issueKey() explains this better than Commander.
    .allowExcessArguments()
    .action(createAction(loadClientKeyCommands, 'issueKey'));
  addCommand(clientKeyCommand, 'rotate', {
    summary: 'create another key of a client',
    description: `Creates another key of a client, with the scopes and channels of its previous key. The idempotency keys of the client stay
valid. The old keys work until they expire or are revoked.`,
  })
    .argument(...CLIENT_ID_ARGUMENT)
    .requiredOption(...KEYS_FILE_OPTION_ARGS)
    .option(...LABEL_OPTION_ARGS)
    .option(
      '--expires-in <time>',
      'lifetime of the new key, such as 90d; that of the previous key if omitted',
      parsePositiveDuration,
    )
    .option(
      '--old-expires-in <time>',
      'time after which the old keys expire, such as 7d; if omitted, their expiry does not change',
      parseDuration,
    )
    .action(createAction(loadClientKeyCommands, 'rotateKey'));
}

function defineListAndRevokeCommands(clientKeyCommand: Command, createAction: CreateAction): void {
  addCommand(clientKeyCommand, 'list', {
    summary: 'list keys with their label, creation, expiry, scopes and channels',
  })
    .requiredOption(...KEYS_FILE_OPTION_ARGS)
    .option(
      '--metrics <url>',
      'URL of /metrics of an instance, to add the last use of each key; may be repeated. Sends METRICS_TOKEN if set',
      (metricsUrl: string, earlierUrls: readonly string[] = []) => [...earlierUrls, metricsUrl],
    )
    .option(...JSON_OPTION_ARGS)
    .action(createAction(loadClientKeyCommands, 'listKeys'));
  addCommand(clientKeyCommand, 'revoke', {
    summary: 'remove a key from the file; running gateways then reject the key within seconds',
  })
    .argument(...CLIENT_ID_ARGUMENT)
    .requiredOption(...KEYS_FILE_OPTION_ARGS)
    .option('--key <label>', 'label of the key; if the client has several, required unless --all is given')
    .option('--all', 'revoke all keys of the client')
    .action(createAction(loadClientKeyCommands, 'revokeKey'));
}
