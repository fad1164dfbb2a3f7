import { Secret } from './secret';
import { oneOf, type Setting, type SettingsReader } from './settings';
import { words } from './setting-values';
import { SAMPLERS, type TracingSettings } from './tracing/settings';

/** The address of a collector. It often runs beside, so plain http is allowed to any host; a key belongs into a header. */
function readCollectorUrl(text: string): string | undefined {
  if (!URL.canParse(text)) return undefined;
  const { protocol, username, password, search, hash, href } = new URL(text);
  const isBare = username + password + search + hash === '' && !/[?#]/.test(text);
  return isBare && /^https?:$/.test(protocol) ? href : undefined;
}

const COLLECTOR_URL = 'an http or https address without credentials, query or fragment';

/** The pairs of a list such as a=1,b=2%2C3; undefined where something in it is none. */
function readPairs(text: string, isName: RegExp, isValue: RegExp): [string, string][] | undefined {
  const pairs = text.split(',').map((part): [string, string] | undefined => {
    const [, name = '', written = ''] = /^\s*([^=]*?)\s*=\s*(.*?)\s*$/s.exec(part) ?? [];
    const value = decoded(written);
    return isName.test(name) && value !== undefined && isValue.test(value) ? [name, value] : undefined;
  });
  return pairs.every((pair) => pair !== undefined) ? pairs : undefined;
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

/** What a header may be called, but for those that say how a request is written. */
const HEADER_NAME =
  /^(?!(host|connection|keep-alive|transfer-encoding|content-(length|type|encoding))$)[!#$%&'*+.^`|~\w-]{1,256}$/i;
const HEADER_VALUE = /^[\x20-\x7e]{1,4096}$/;
const ATTRIBUTE_NAME = /^[\x21-\x7e]{1,255}$/;
const ATTRIBUTE_VALUE = /^[^\p{Cc}]{0,255}$/u;

/** The settings of traces (docs/tracing.md), under the names that OpenTelemetry gives them. */
export const TRACING_SETTINGS = {
  OTEL_EXPORTER_OTLP_ENDPOINT: {
    about:
      'Where a collector takes OpenTelemetry data: traces are sent to v1/traces below it (docs/tracing.md).',
    expected: COLLECTOR_URL,
    unset: 'nothing is traced, unless OTEL_EXPORTER_OTLP_TRACES_ENDPOINT is set',
    read: readCollectorUrl,
  },
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: {
    about: 'The whole address to which traces are sent.',
    expected: COLLECTOR_URL,
    unset: 'v1/traces below OTEL_EXPORTER_OTLP_ENDPOINT',
    read: readCollectorUrl,
  },
  OTEL_EXPORTER_OTLP_PROTOCOL: {
    about: 'How the collector is spoken to; there is one way. Collectors listen for it at port 4318.',
    unset: 'http/protobuf',
    ...oneOf('http/protobuf'),
  },
  OTEL_EXPORTER_OTLP_HEADERS: {
    about: 'Headers that are sent to the collector, such as its key.',
    expected: 'pairs such as authorization=Bearer%20abc, percent-encoded, separated by commas',
    unset: 'none',
    secret: true,
    read: (text: string): Record<string, Secret> | undefined => {
      const pairs = readPairs(text, HEADER_NAME, HEADER_VALUE);
      return (
        pairs && Object.fromEntries(pairs.map(([name, value]) => [name.toLowerCase(), new Secret(value)]))
      );
    },
  },
  OTEL_SERVICE_NAME: {
    about: 'What the gateway is called in traces.',
    unset: 'service.name in OTEL_RESOURCE_ATTRIBUTES, or else paygraph',
    ...words,
  },
  OTEL_RESOURCE_ATTRIBUTES: {
    about: 'What else traces say of the gateway, such as deployment.environment.name=production.',
    expected: 'pairs such as name=value, percent-encoded, separated by commas',
    unset: 'nothing',
    read: (text: string): Record<string, string> | undefined => {
      const pairs = readPairs(text, ATTRIBUTE_NAME, ATTRIBUTE_VALUE);
      return pairs && Object.fromEntries(pairs);
    },
  },
  OTEL_TRACES_SAMPLER: {
    about:
      'Which traces are kept: all, none, or a share of them; with parentbased_ those of callers who send a traceparent as it says.',
    unset: 'parentbased_always_on',
    ...oneOf(...SAMPLERS),
  },
  OTEL_TRACES_SAMPLER_ARG: {
    about: 'The share of traces that is kept with traceidratio and parentbased_traceidratio.',
    expected: 'a number from 0 to 1',
    unset: '1',
    read: (text: string) => (/^(0?\.\d{1,9}|0|1(\.0{1,9})?)$/.test(text) ? Number(text) : undefined),
  },
} satisfies Record<string, Setting<unknown>>;

/** Where spans go, and which; null where nobody wants them. */
export function readTracing(reader: SettingsReader): TracingSettings | null {
  const get = <N extends keyof typeof TRACING_SETTINGS>(name: N) =>
    reader.get(name, TRACING_SETTINGS[name] as Setting<ReturnType<(typeof TRACING_SETTINGS)[N]['read']>>);
  get('OTEL_EXPORTER_OTLP_PROTOCOL');
  const base = get('OTEL_EXPORTER_OTLP_ENDPOINT');
  const url = get('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT') ?? (base && `${base.replace(/\/*$/, '/')}v1/traces`);
  const { 'service.name': named = 'paygraph', ...resource } = get('OTEL_RESOURCE_ATTRIBUTES') ?? {};
  const settings = {
    headers: get('OTEL_EXPORTER_OTLP_HEADERS') ?? {},
    serviceName: get('OTEL_SERVICE_NAME') ?? named,
    resource,
    sampler: get('OTEL_TRACES_SAMPLER') ?? 'parentbased_always_on',
    ratio: get('OTEL_TRACES_SAMPLER_ARG') ?? 1,
  };
  return url === undefined ? null : { url, ...settings };
}
