/** Decodes the exports of an OpenTelemetry exporter, by the field numbers of opentelemetry-proto's trace.proto. */

/** A span as the exporter sent it. */
export interface SeenSpan {
  traceId: string;
  spanId: string;
  /** Empty if the span has no parent. */
  parentSpanId: string;
  traceState: string;
  name: string;
  kind: 'internal' | 'server' | 'client';
  attributes: Record<string, unknown>;
  links: { traceId: string; spanId: string }[];
  events: number;
  status: { isError: boolean; message: string };
  /** Resource attributes of the process that created the span. */
  resource: Record<string, unknown>;
}

type Fields = Map<number, (bigint | Buffer)[]>;

/** Returns the values of each field of a message by field number, in their order. */
function fieldsOf(message: Buffer): Fields {
  const fields: Fields = new Map();
  let at = 0;
  const varint = (): bigint => {
    const byte = BigInt(message.readUInt8(at));
    at += 1;
    return byte < 0x80n ? byte : (byte & 0x7fn) | (varint() << 7n);
  };
  const bytes = (length: number): Buffer => message.subarray(at, (at += length));
  /** Readers of the wire types varint, 64 bits, bytes with their length, and 32 bits. */
  const readers = { 0: varint, 1: () => bytes(8), 2: () => bytes(Number(varint())), 5: () => bytes(4) };
  while (at < message.length) {
    const key = Number(varint());
    const values = fields.get(key >> 3) ?? [];
    fields.set(key >> 3, [...values, readers[(key & 7) as keyof typeof readers]()]);
  }
  return fields;
}

const messages = (fields: Fields, number: number): Fields[] =>
  (fields.get(number) ?? []).map((value) => fieldsOf(value as Buffer));
const bytesOf = (fields: Fields, number: number): Buffer =>
  (fields.get(number)?.[0] as Buffer | undefined) ?? Buffer.of();
const textOf = (fields: Fields, number: number): string => bytesOf(fields, number).toString('utf8');
const hexOf = (fields: Fields, number: number): string => bytesOf(fields, number).toString('hex');
const numberOf = (fields: Fields, number: number): number => Number(fields.get(number)?.[0] ?? 0n);

function anyValue(fields: Fields): unknown {
  if (fields.has(1)) return textOf(fields, 1);
  if (fields.has(3)) return numberOf(fields, 3);
  return messages(fields, 5).flatMap((list) => messages(list, 1).map(anyValue));
}

const attributesOf = (fields: Fields, number: number): Record<string, unknown> =>
  Object.fromEntries(
    messages(fields, number).map((pair) => [textOf(pair, 1), messages(pair, 2).map(anyValue)[0]]),
  );

const KINDS = ['internal', 'internal', 'server', 'client'] as const;

function spanOf(span: Fields, resource: Record<string, unknown>): SeenSpan {
  const [status = new Map()] = messages(span, 15);
  return {
    traceId: hexOf(span, 1),
    spanId: hexOf(span, 2),
    traceState: textOf(span, 3),
    parentSpanId: hexOf(span, 4),
    name: textOf(span, 5),
    kind: KINDS[numberOf(span, 6)] ?? 'internal',
    attributes: attributesOf(span, 9),
    events: (span.get(11) ?? []).length,
    links: messages(span, 13).map((link) => ({ traceId: hexOf(link, 1), spanId: hexOf(link, 2) })),
    // 2 is STATUS_CODE_ERROR.
    status: { isError: numberOf(status, 3) === 2, message: textOf(status, 2) },
    resource,
  };
}

/** Returns the spans of one export (ExportTraceServiceRequest). */
export const spansIn = (body: Buffer): SeenSpan[] =>
  messages(fieldsOf(body), 1).flatMap((ofResource) => {
    const resource = messages(ofResource, 1).map((one) => attributesOf(one, 1))[0] ?? {};
    return messages(ofResource, 2).flatMap((scope) =>
      messages(scope, 2).map((span) => spanOf(span, resource)),
    );
  });
