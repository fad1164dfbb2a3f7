import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { Secret } from '../../shared/secret';
import { HotReloadedFile } from '../../shared/hot-reloaded-file';
import { readCredentialsFile, type CredentialEntry, type CredentialTable } from './credentials-file';
import { Signer } from './http/signature';

/** The signers of one entry. With two of them the one that worked last comes first. */
export class Signers {
  /** For the operator: "default", or "channels." and the channel. */
  readonly name: string;
  readonly #secretKeys: readonly string[];
  readonly #signers: readonly Signer[];
  #preferred: number;

  /** @param before what the same calls were signed with until now: if its preferred secret key is still there, it stays preferred */
  constructor(name: string, { apiKey, secretKeys }: CredentialEntry, before?: Signers) {
    this.name = name;
    this.#secretKeys = secretKeys.map((secretKey) => secretKey.reveal());
    this.#signers = secretKeys.map((secretKey) => new Signer(apiKey, secretKey));
    this.#preferred = Math.max(0, this.#secretKeys.indexOf(before?.preferredKey ?? ''));
  }

  get preferredKey(): string {
    return this.#secretKeys[this.#preferred] ?? '';
  }

  /** The one to be tried first. */
  get preferred(): Signer | undefined {
    return this.#signers[this.#preferred];
  }

  /** The one to be tried after another, where there are two. */
  fallbackSigner(tried: Signer): Signer | undefined {
    return this.#signers.find((signer) => signer !== tried);
  }

  /** Puts that one first from now on. Tells its place in the file, from 1, or undefined where it was first already. */
  prefer(signer: Signer): number | undefined {
    const place = this.#signers.indexOf(signer);
    if (place < 0 || place === this.#preferred) return undefined;
    this.#preferred = place;
    return place + 1;
  }
}

/** What the operator hears of the credentials; never a value. */
export type CredentialEvent =
  | { kind: 'reloaded' }
  /** The file has changed and cannot be used: what was there before stays. */
  | { kind: 'refused'; why: string }
  /** The service accepts the secret key at that place, from 1, and no longer the other. */
  | { kind: 'switched'; entry: string; secretKey: number };

interface CredentialsOptions {
  /** SERVICE_CREDENTIALS_FILE; null where there is none. */
  file: string | null;
  /** SERVICE_API_KEY and SERVICE_SECRET_KEY, where they are set: the default where the file has none. */
  settings: CredentialEntry | undefined;
  heard(event: CredentialEvent): void;
}

interface ActiveCredentials {
  default: Signers | undefined;
  channels: ReadonlyMap<string, Signers>;
  /** Every key and secret of the file and of the settings, also those that nothing is signed with. */
  known: readonly string[];
}

/** The credentials of every channel: from the settings, or from a file that is read again when it changes. */
export class Credentials {
  readonly #options: CredentialsOptions;
  readonly #file: HotReloadedFile<ActiveCredentials> | undefined;
  readonly #fixed: ActiveCredentials;

  /** Made up: who accepts them accepts everybody. */
  static ofNobody(): Credentials {
    const settings = { apiKey: new Secret(randomUUID()), secretKeys: [new Secret(randomUUID())] };
    return new Credentials({ file: null, settings, heard: () => undefined });
  }

  /** Throws an Error that says what is wrong with the file. */
  constructor(options: CredentialsOptions) {
    const { file, heard } = options;
    this.#options = options;
    this.#fixed = this.#activate({ default: undefined, channels: new Map() });
    if (file === null) return;
    const folder = path.dirname(file);
    this.#file = new HotReloadedFile({
      path: file,
      read: (text, beside) => {
        const table = readCredentialsFile(text, (named) => beside(path.resolve(folder, named)));
        if (!table.default && !options.settings && table.channels.size === 0)
          throw new Error('expected default or channels: there are no credentials at all');
        return this.#activate(table);
      },
      told: (event) => heard(event.taken ? { kind: 'reloaded' } : { kind: 'refused', why: event.why }),
    });
  }

  /** What calls for a channel are signed with: its own credentials, or the default; undefined where there are neither. */
  of(channel: string): Signers | undefined {
    const { channels, default: others } = this.#inForce;
    return channels.get(channel.toLowerCase()) ?? others;
  }

  /** Every key and secret that is known now, of all channels: none of them may come back in a message. */
  get known(): readonly string[] {
    return this.#inForce.known;
  }

  /** A call was accepted with that signer, after another had been refused. */
  onAccepted(signers: Signers, signer: Signer): void {
    const secretKey = signers.prefer(signer);
    if (secretKey !== undefined) this.#options.heard({ kind: 'switched', entry: signers.name, secretKey });
  }

  /** Stops watching the file. */
  close(): void {
    this.#file?.close();
  }

  get #inForce(): ActiveCredentials {
    return this.#file?.value ?? this.#fixed;
  }

  #activate(table: CredentialTable): ActiveCredentials {
    const { settings } = this.#options;
    const before = this.#file?.value;
    const others = table.default ?? settings;
    const channels = [...table.channels].map(([channel, entry]): [string, Signers] => {
      const last = before?.channels.get(channel) ?? before?.default;
      return [channel, new Signers(`channels.${channel}`, entry, last)];
    });
    const entries = [table.default, settings, ...table.channels.values()];
    return {
      default: others && new Signers('default', others, before?.default),
      channels: new Map(channels),
      known: entries.flatMap((entry) =>
        entry ? [entry.apiKey, ...entry.secretKeys].map((secret) => secret.reveal()) : [],
      ),
    };
  }
}
