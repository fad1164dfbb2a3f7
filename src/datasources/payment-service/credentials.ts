import { randomUUID } from 'node:crypto';
import path from 'node:path';
import type { Logger } from 'pino';
import { Secret } from '../../shared/secret';
import { HotReloadedFile } from '../../shared/hot-reloaded-file';
import { parseCredentialsFile, type CredentialEntry, type CredentialTable } from './credentials-file';
import { Signer } from './http/signature';

/** The signers for one entry of the credentials: one signer per secret key. */
interface Signers {
  /** Name of the entry for logs: `default` or `channels.<channel>`. */
  entryName: string;
  /**
   * One signer or two. The signer whose key the service accepted last comes first. Until the service has accepted one,
   * the signers have the order of the secret keys.
   */
  preferredFirst: Signer[];
}

/** @param previous signers before a reload. Their preferred key stays preferred if the new entry contains it. */
function createSigners(
  entryName: string,
  { apiKey, secretKeys }: CredentialEntry,
  previous?: Signers,
): Signers {
  const preferredFirst = secretKeys.map((secretKey, index) => new Signer(apiKey, secretKey, index + 1));
  const preferredSigner = previous?.preferredFirst[0];
  if (preferredSigner && preferredFirst[1]?.hasSameKey(preferredSigner)) preferredFirst.reverse();
  return { entryName, preferredFirst };
}

interface CredentialsOptions {
  /** Path in the setting SERVICE_CREDENTIALS_FILE; null if unset. */
  credentialsFile: string | null;
  /**
   * Credentials from SERVICE_API_KEY and SERVICE_SECRET_KEY; undefined if unset. They are the default credentials if
   * there is no file, or if the file has no `default`.
   */
  defaultCredentials: CredentialEntry | undefined;
  /** Logs each reload of the file, even if it failed, and each switch of the secret key. Logs no credentials. */
  log?: Pick<Logger, 'info' | 'error'>;
}

interface SignerTable {
  default: Signers | undefined;
  signersByChannel: ReadonlyMap<string, Signers>;
  /** All API keys and secret keys in the file and the settings, even unused ones. */
  allSecrets: readonly string[];
}

/** The gateway's credentials for all channels, from settings and from a file. Reloads the file when it changes. */
export class Credentials {
  readonly #hotReloadedFile: HotReloadedFile<SignerTable> | undefined;
  readonly #settingsSignerTable: SignerTable;

  /** Returns random credentials. They are used to check that the service rejects an unknown API key. */
  static createRandom(): Credentials {
    const defaultCredentials = { apiKey: new Secret(randomUUID()), secretKeys: [new Secret(randomUUID())] };
    return new Credentials({ credentialsFile: null, defaultCredentials });
  }

  /** Reads `options.credentialsFile`, if set. Throws an Error if it cannot be read or is invalid. */
  constructor(private readonly options: CredentialsOptions) {
    const { credentialsFile, defaultCredentials, log } = options;
    this.#settingsSignerTable = this.#toSignerTable({ default: undefined, entryByChannel: new Map() });
    if (credentialsFile === null) return;
    const folder = path.dirname(credentialsFile);
    this.#hotReloadedFile = new HotReloadedFile({
      path: credentialsFile,
      parse: (text, readFile) => {
        const table = parseCredentialsFile(text, (relativePath) =>
          readFile(path.resolve(folder, relativePath)),
        );
        if (!table.default && !defaultCredentials && table.entryByChannel.size === 0)
          throw new Error(
            'expected credentials in its field "default" or "channels", or in SERVICE_API_KEY and SERVICE_SECRET_KEY',
          );
        return this.#toSignerTable(table);
      },
      onReload: (event) =>
        event.isApplied
          ? log?.info({ event: 'credentials_reloaded' }, 'SERVICE_CREDENTIALS_FILE reloaded')
          : log?.error(
              { event: 'credentials_file_invalid', why: event.why },
              'SERVICE_CREDENTIALS_FILE changed and cannot be used; the previous credentials stay in use',
            ),
    });
  }

  /** Returns the signers of a channel. If it has no entry, returns the default signers; undefined if there are none. */
  signersFor(channel: string): Signers | undefined {
    const { signersByChannel, default: defaultSigners } = this.#activeSignerTable;
    return signersByChannel.get(channel.toLowerCase()) ?? defaultSigners;
  }

  /** All API keys and secret keys, for redaction. */
  get allSecrets(): readonly string[] {
    return this.#activeSignerTable.allSecrets;
  }

  /**
   * Makes `signer` the preferred one of `signers`. Call this after the service has accepted `signer` and rejected the
   * other signer.
   */
  preferSigner(signers: Signers, signer: Signer): void {
    if (signers.preferredFirst[0] === signer) return;
    signers.preferredFirst.reverse();
    this.options.log?.info(
      { event: 'secret_key_switched', entry: signers.entryName, secretKey: signer.keyNumber },
      'payment service rejected the secret key and accepts another one; signing with that key',
    );
  }

  close(): void {
    this.#hotReloadedFile?.close();
  }

  get #activeSignerTable(): SignerTable {
    return this.#hotReloadedFile?.value ?? this.#settingsSignerTable;
  }

  #toSignerTable(table: CredentialTable): SignerTable {
    const { defaultCredentials } = this.options;
    const previous = this.#hotReloadedFile?.value;
    const defaultEntry = table.default ?? defaultCredentials;
    const signersByChannel = new Map<string, Signers>();
    for (const [channel, entry] of table.entryByChannel) {
      const previousSigners = previous?.signersByChannel.get(channel) ?? previous?.default;
      signersByChannel.set(channel, createSigners(`channels.${channel}`, entry, previousSigners));
    }
    const entries = [table.default, defaultCredentials, ...table.entryByChannel.values()];
    return {
      default: defaultEntry && createSigners('default', defaultEntry, previous?.default),
      signersByChannel,
      allSecrets: entries.flatMap((entry) =>
        entry ? [entry.apiKey, ...entry.secretKeys].map((secret) => secret.reveal()) : [],
      ),
    };
  }
}
