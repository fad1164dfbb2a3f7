import { ID, InterfaceType, Field } from 'type-graphql';
import { bytesToUuid, isUuid, uuidToBytes } from '../shared/uuid';

const TRANSACTION_KINDS = ['payment', 'payout'] as const;

/** The payment or payout that a global id (`Node.id`) identifies. */
export interface NodeRef {
  kind: (typeof TRANSACTION_KINDS)[number];
  channel: string;
  transactionId: string;
}

const NODE_ID_VERSION = 1;
/** Size of a decoded global id in bytes: format version (1), kind (1) and two UUIDs (16 each). */
const NODE_ID_BYTES = 2 + 16 + 16;

/** Returns the global id of a transaction: format version, kind, channel and transaction id as base64url. */
export function encodeNodeId({ kind, channel, transactionId }: NodeRef): string {
  const header = Buffer.from([NODE_ID_VERSION, TRANSACTION_KINDS.indexOf(kind)]);
  return Buffer.concat([header, uuidToBytes(channel), uuidToBytes(transactionId)]).toString('base64url');
}

/** Parses a global id. Returns undefined for a text that encodeNodeId() cannot have returned. */
export function decodeNodeId(nodeId: string): NodeRef | undefined {
  const bytes = Buffer.from(nodeId, 'base64url');
  const kind = TRANSACTION_KINDS[bytes[1] ?? TRANSACTION_KINDS.length];
  if (bytes.length !== NODE_ID_BYTES || bytes[0] !== NODE_ID_VERSION || !kind) return undefined;
  const nodeRef = {
    kind,
    channel: bytesToUuid(bytes.subarray(2, 18)),
    transactionId: bytesToUuid(bytes.subarray(18)),
  };
  // Accept only the text that encodeNodeId() returns, because several base64 texts can encode the same bytes.
  return isUuid(nodeRef.channel) && encodeNodeId(nodeRef) === nodeId ? nodeRef : undefined;
}

@InterfaceType({
  description: 'An object with a globally unique id (Relay global object identification).',
})
export abstract class Node {
  abstract readonly kind: NodeRef['kind'];
  abstract channel: string;
  abstract transactionId: string;

  @Field(() => ID, {
    description: 'Opaque and stable, for node(id). It encodes kind, channel and transaction id.',
  })
  get id(): string {
    return encodeNodeId(this);
  }
}
