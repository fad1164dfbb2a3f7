import type { Command } from 'commander';
import { SCOPES } from '../auth/caller';
import { JSON_OPTION, addCommand, collect, type Actions } from './command-definitions';

const ID = ['<id>', 'the client'] as const;
const KEYS_FILE = ['--file <clients.json>', 'the CLIENT_KEYS_FILE'] as const;
const LABEL = [
  '--label <label>',
  'label of the key: letters, digits, dots, dashes, underscores; the first 8 digits of keySha256 if omitted',
] as const;

const SCOPE_LIST = Object.entries(SCOPES).map(
  ([scope, text]) => `  ${scope.padEnd(20)} ${text.replaceAll('. ', `.\n${' '.repeat(23)}`)}`,
);

const commands = async () => import('./commands/client-key.js');

/** The commands for the keys of internal services. */
export function defineClientKey(program: Command, actions: Actions): void {
  const clientKey = addCommand(program, 'client-key', {
    summary: 'create, list and revoke the keys of internal services',
    description: `Creates, lists and revokes keys of internal services. A key is printed once and not stored: the file has its SHA-256.
docs/security.md describes the rotation of keys.`,
    examples: [
      'paygraph client-key new shop-backend --file clients.json --expires-in 365d',
      'paygraph client-key new reports --scopes payments:read,payouts:read --file clients.json',
      'paygraph client-key rotate shop-backend --file clients.json --old-expires-in 7d',
      'paygraph client-key list --file clients.json --metrics http://127.0.0.1:4000/metrics',
      'paygraph client-key revoke shop-backend --key 5f2b01ac --file clients.json',
    ],
  }).addHelpText('after', `\nScopes:\n${SCOPE_LIST.join('\n')}`);
  defineNewAndRotate(clientKey, actions);
  defineListAndRevoke(clientKey, actions);
}

function defineNewAndRotate(clientKey: Command, { run }: Actions): void {
  addCommand(clientKey, 'new', { summary: 'create the first key of a client' })
    .argument('<id>', 'the client: letters, digits, dots, dashes, underscores')
    .option('--scopes <scope,…>', 'scopes of the client; all but cards:direct if omitted')
    .option('--channels <uuid,…>', 'merchant channels that the client may use; all if omitted')
    .option(...LABEL)
    .option('--expires-in <time>', 'lifetime of the key, such as 90d; unlimited if omitted')
    .option('--file <clients.json>', 'the CLIENT_KEYS_FILE to add the entry to; created if it does not exist')
    // Commander reports lists with spaces as excess arguments; the message of the command is clearer.
    .allowExcessArguments()
    .action(
      run(async (context, _id: string, options, command: Command) =>
        (await commands()).newKey(context, command.args, options),
      ),
    );
  addCommand(clientKey, 'rotate', {
    summary: 'create another key of a client',
    description: `Creates another key of a client, with the rights of its newest one. The client keeps its idempotency keys. The old key
works until it expires or is revoked.`,
  })
    .argument(...ID)
    .requiredOption(...KEYS_FILE)
    .option(...LABEL)
    .option('--expires-in <time>', 'lifetime of the new key, such as 90d; that of the newest key if omitted')
    .option('--old-expires-in <time>', 'remaining lifetime of the other keys of the client, such as 7d')
    .action(run(async (context, id: string, options) => (await commands()).rotateKey(context, id, options)));
}

function defineListAndRevoke(clientKey: Command, { run }: Actions): void {
  addCommand(clientKey, 'list', {
    summary: 'list keys with label, creation, expiry, scopes and channels',
  })
    .requiredOption(...KEYS_FILE)
    .option(
      '--metrics <url>',
      'add the last use of each key from /metrics of an instance; may be repeated. Sends METRICS_TOKEN if it is set',
      collect,
    )
    .option(...JSON_OPTION)
    .action(run(async (context, options) => (await commands()).listKeys(context, options)));
  addCommand(clientKey, 'revoke', {
    summary: 'remove a key from the file; running gateways reject it within seconds',
  })
    .argument(...ID)
    .requiredOption(...KEYS_FILE)
    .option('--key <label>', 'label of the key; required if the client has several')
    .option('--all', 'all keys of the client')
    .action(run(async (context, id: string, options) => (await commands()).revokeKey(context, id, options)));
}
