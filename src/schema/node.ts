import { ID, InterfaceType, Field } from 'type-graphql';
import { isUuid } from '../shared/uuid';

/** The contents of a global id. */
export interface NodeRef {
  kind: 'payment' | 'payout';
  channel: string;
  transactionId: string;
}

const KINDS = ['payment', 'payout'] as const;
const FORMAT = 1;
const LENGTH = 2 + 16 + 16;

const bytesOf = (uuid: string): Buffer => Buffer.from(uuid.replaceAll('-', ''), 'hex');

function uuidOf(bytes: Buffer): string {
  const hex = bytes.toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

/** The global id of a transaction: format, kind, channel and transaction id in 34 bytes, base64url. */
export function encodeNodeId({ kind, channel, transactionId }: NodeRef): string {
  const head = Buffer.from([FORMAT, KINDS.indexOf(kind)]);
  return Buffer.concat([head, bytesOf(channel), bytesOf(transactionId)]).toString('base64url');
}

/** Undefined for an id that this gateway never issued. */
export function decodeNodeId(id: string): NodeRef | undefined {
  const bytes = Buffer.from(id, 'base64url');
  const kind = KINDS[bytes[1] ?? KINDS.length];
  if (bytes.length !== LENGTH || bytes[0] !== FORMAT || !kind) return undefined;
  const ref = { kind, channel: uuidOf(bytes.subarray(2, 18)), transactionId: uuidOf(bytes.subarray(18)) };
  // Base64 can encode the same bytes in several ways; only the canonical id is valid.
  return isUuid(ref.channel) && encodeNodeId(ref) === id ? ref : undefined;
}

@InterfaceType({
  // type-graphql finds only types that implement this interface directly; ours implement interfaces that extend it.
  resolveType: (value: object) => value.constructor.name,
  description: 'An object with a globally unique id (Relay global object identification).',
})
export abstract class Node {
  abstract readonly kind: NodeRef['kind'];
  abstract channel: string;
  abstract transactionId: string;

  @Field(() => ID, {
    description: 'Opaque and stable. It encodes kind, channel and transaction id; for node(id).',
  })
  get id(): string {
    return encodeNodeId(this);
  }
}
