import type { Command } from 'commander';
import { examples, prose, type Declaring } from './command-definitions';

/** The command that makes tokens for trying access rules in the sandbox. */
export function declareDevToken(program: Command, { ends }: Declaring): void {
  program
    .command('dev-token')
    .summary('make a token for the embedded sandbox, to try scopes, ownership and expiry')
    .description(
      prose(`Makes a token (JWT) for the embedded sandbox, to try scopes, ownership and expiry. The first call makes a signing
key in data/dev-token. The token goes to standard output, the settings to start the gateway with to standard error.

A development tool: a gateway with SERVICE_BASE_URL refuses to start with this issuer.`),
    )
    .requiredOption('--sub <subject>', 'who the caller is: 1 to 255 printable ASCII characters')
    .option(
      '--scope <scopes>',
      'what it may do, separated by blanks (docs/security.md has the list)',
      'payments:create payments:read:own payments:confirm:own',
    )
    .option('--channels <uuid,…>', 'the merchant channels it may act on', '*')
    .option(
      '--expires-in <time>',
      'the lifetime, such as 30s, 15m or 24h, which is the longest; -1m makes an expired token',
      '1h',
    )
    .addHelpText(
      'after',
      examples(
        'paygraph dev-token --sub alice',
        'paygraph dev-token --sub bob --scope "payments:read:own" --expires-in 5m',
      ),
    )
    .action((options) =>
      ends(async (context) => (await import('./commands/dev-token.js')).devToken(context, options)),
    );
}
