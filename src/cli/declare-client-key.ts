import type { Command } from 'commander';
import { SCOPES } from '../auth/caller';
import { JSON_OPTION, examples, prose, type Declaring } from './command-definitions';

const ID = ['<id>', 'the client'] as const;
const KEYS_FILE = ['--file <clients.json>', 'the CLIENT_KEYS_FILE that has the client'] as const;
const LABEL = [
  '--label <label>',
  'names the key among those of its client: letters, digits, dots, dashes, underscores; without this, the first 8 digits of keySha256',
] as const;

const SCOPE_LIST = `
Scopes:
${Object.entries(SCOPES)
  .map(([scope, about]) => `  ${scope.padEnd(20)} ${about.replaceAll('. ', `.\n${' '.repeat(23)}`)}`)
  .join('\n')}`;

const commands = async () => import('./commands/client-key.js');

/** The commands for the keys of internal services. */
export function declareClientKey(program: Command, declaring: Declaring): void {
  const clientKey = program
    .command('client-key')
    .summary('make, list and revoke the keys of internal services')
    .description(
      prose(
        `Makes, lists and revokes keys of internal services. A key is printed once and kept nowhere: the file holds its
SHA-256 only. docs/security.md says how a key is rotated.`,
      ),
    )
    .addHelpText(
      'after',
      `${examples(
        'paygraph client-key new shop-backend --file clients.json --expires-in 365d',
        'paygraph client-key new reports --scopes payments:read,payouts:read --file clients.json',
        'paygraph client-key rotate shop-backend --file clients.json --old-expires-in 7d',
        'paygraph client-key list --file clients.json --metrics http://127.0.0.1:4000/metrics',
        'paygraph client-key revoke shop-backend --key 5f2b01ac --file clients.json',
      )}
${SCOPE_LIST}`,
    );
  declareNew(clientKey, declaring);
  declareRotate(clientKey, declaring);
  declareList(clientKey, declaring);
  declareRevoke(clientKey, declaring);
}

function declareNew(clientKey: Command, { ends }: Declaring): void {
  clientKey
    .command('new')
    .description('a key for a client that has none')
    .argument('<id>', 'names the service: letters, digits, dots, dashes, underscores')
    .option('--scopes <scope,…>', 'what it may do; without this everything but cards:direct')
    .option('--channels <uuid,…>', 'the merchant channels it may act on; without this all of them')
    .option(...LABEL)
    .option('--expires-in <time>', 'when the key stops working, such as 90d; without this never')
    .option(
      '--file <clients.json>',
      'adds the entry to this CLIENT_KEYS_FILE, which is made where it is missing',
    )
    // Commander reports a list with blanks as excess arguments; the command has a clearer message.
    .allowExcessArguments()
    .action((_id: string, options, command: Command) =>
      ends(async (context) => (await commands()).newKey(context, command.args, options)),
    );
}

function declareRotate(clientKey: Command, { ends }: Declaring): void {
  clientKey
    .command('rotate')
    .description(
      prose(`a second key with the rights of the newest one: the client stays the same, and keeps its idempotency keys. The
old key works until it expires or is revoked`),
    )
    .argument(...ID)
    .requiredOption(...KEYS_FILE)
    .option(...LABEL)
    .option(
      '--expires-in <time>',
      'when the new key stops working, such as 90d; without it the lifetime of the newest key',
    )
    .option('--old-expires-in <time>', "when the client's other keys stop working, such as 7d")
    .action((id: string, options) =>
      ends(async (context) => (await commands()).rotateKey(context, id, options)),
    );
}

function declareList(clientKey: Command, { ends }: Declaring): void {
  clientKey
    .command('list')
    .description('every key with its label, creation, expiry, scopes and channels; never the key itself')
    .requiredOption('--file <clients.json>', 'the CLIENT_KEYS_FILE')
    .option(
      '--metrics <url>',
      prose(`adds when each key was last used since the gateway at this /metrics started; may be given several times, once
for each instance. METRICS_TOKEN is sent where it is set`),
      (url: string, before: readonly string[]) => [...before, url],
      [],
    )
    .option(...JSON_OPTION)
    .action((options) =>
      ends(async (context) => (await import('./commands/client-key-list.js')).listKeys(context, options)),
    );
}

function declareRevoke(clientKey: Command, { ends }: Declaring): void {
  clientKey
    .command('revoke')
    .description('take a key out of the file; a running gateway refuses it within seconds')
    .argument(...ID)
    .requiredOption(...KEYS_FILE)
    .option('--key <label>', 'the label of the key, as list prints it; needed where the client has several')
    .option('--all', 'all keys of the client')
    .action((id: string, options) =>
      ends(async (context) => (await commands()).revokeKey(context, id, options)),
    );
}
