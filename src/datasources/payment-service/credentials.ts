import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { Secret } from '../../shared/secret';
import { HotReloadedFile } from '../../shared/hot-reloaded-file';
import { readCredentialsFile, type CredentialEntry, type CredentialTable } from './credentials-file';
import { Signer } from './http/signature';

/** The signers of one entry, one per secret key. */
export class Signers {
  /** For logs: `default` or `channels.<channel>`. */
  readonly name: string;
  readonly #secretKeys: readonly string[];
  readonly #signers: readonly Signer[];
  #preferred: number;

  /** @param before the signers used until now: their preferred secret key stays preferred */
  constructor(name: string, { apiKey, secretKeys }: CredentialEntry, before?: Signers) {
    this.name = name;
    this.#secretKeys = secretKeys.map((secretKey) => secretKey.reveal());
    this.#signers = secretKeys.map((secretKey) => new Signer(apiKey, secretKey));
    this.#preferred = Math.max(0, this.#secretKeys.indexOf(before?.preferredKey ?? ''));
  }

  get preferredKey(): string {
    return this.#secretKeys[this.#preferred] ?? '';
  }

  /** The signer that the service accepted last. */
  get preferred(): Signer | undefined {
    return this.#signers[this.#preferred];
  }

  /** The other signer; undefined when there is only one. */
  fallbackSigner(rejected: Signer): Signer | undefined {
    return this.#signers.find((signer) => signer !== rejected);
  }

  /** Makes a signer the preferred one. Returns its position in the file from 1; undefined when it was preferred already. */
  prefer(signer: Signer): number | undefined {
    const index = this.#signers.indexOf(signer);
    if (index < 0 || index === this.#preferred) return undefined;
    this.#preferred = index;
    return index + 1;
  }
}

/** For logs; never contains a credential. */
export type CredentialEvent =
  | { kind: 'reloaded' }
  /** The changed file is invalid: the previous credentials stay in use. */
  | { kind: 'refused'; why: string }
  /** The service accepts the secret key at this position from 1, and not the other. */
  | { kind: 'switched'; entry: string; secretKey: number };

interface CredentialsOptions {
  /** SERVICE_CREDENTIALS_FILE; null when unset. */
  file: string | null;
  /** SERVICE_API_KEY and SERVICE_SECRET_KEY: the default when the file has none. */
  settings: CredentialEntry | undefined;
  onEvent(event: CredentialEvent): void;
}

interface ActiveCredentials {
  default: Signers | undefined;
  channels: ReadonlyMap<string, Signers>;
  /** All keys and secrets of file and settings, also unused ones. */
  known: readonly string[];
}

/** The credentials of all channels, from settings or a hot-reloaded file. */
export class Credentials {
  readonly #options: CredentialsOptions;
  readonly #file: HotReloadedFile<ActiveCredentials> | undefined;
  readonly #fixed: ActiveCredentials;

  /** Random credentials that no service should accept. */
  static placeholder(): Credentials {
    const settings = { apiKey: new Secret(randomUUID()), secretKeys: [new Secret(randomUUID())] };
    return new Credentials({ file: null, settings, onEvent: () => undefined });
  }

  /** Throws an Error that describes the problem with the file. */
  constructor(options: CredentialsOptions) {
    const { file, onEvent } = options;
    this.#options = options;
    this.#fixed = this.#activate({ default: undefined, channels: new Map() });
    if (file === null) return;
    const folder = path.dirname(file);
    this.#file = new HotReloadedFile({
      path: file,
      read: (text, readReferenced) => {
        const table = readCredentialsFile(text, (named) => readReferenced(path.resolve(folder, named)));
        if (!table.default && !options.settings && table.channels.size === 0)
          throw new Error('expected default or channels: there are no credentials');
        return this.#activate(table);
      },
      onReload: (event) => onEvent(event.taken ? { kind: 'reloaded' } : { kind: 'refused', why: event.why }),
    });
  }

  /** The signers of a channel, or the default ones; undefined when there are neither. */
  of(channel: string): Signers | undefined {
    const { channels, default: fallback } = this.#active;
    return channels.get(channel.toLowerCase()) ?? fallback;
  }

  /** All keys and secrets, for redaction. */
  get known(): readonly string[] {
    return this.#active.known;
  }

  /** Must be called when the service accepted a signer after rejecting the other. */
  onAccepted(signers: Signers, signer: Signer): void {
    const secretKey = signers.prefer(signer);
    if (secretKey !== undefined) this.#options.onEvent({ kind: 'switched', entry: signers.name, secretKey });
  }

  /** Stops watching the file. */
  close(): void {
    this.#file?.close();
  }

  get #active(): ActiveCredentials {
    return this.#file?.value ?? this.#fixed;
  }

  #activate(table: CredentialTable): ActiveCredentials {
    const { settings } = this.#options;
    const before = this.#file?.value;
    const fallback = table.default ?? settings;
    const channels = [...table.channels].map(([channel, entry]): [string, Signers] => {
      const last = before?.channels.get(channel) ?? before?.default;
      return [channel, new Signers(`channels.${channel}`, entry, last)];
    });
    const entries = [table.default, settings, ...table.channels.values()];
    return {
      default: fallback && new Signers('default', fallback, before?.default),
      channels: new Map(channels),
      known: entries.flatMap((entry) =>
        entry ? [entry.apiKey, ...entry.secretKeys].map((secret) => secret.reveal()) : [],
      ),
    };
  }
}
