import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';
import { CHECKOUT } from '../gateway/fixtures/program';
import { imageSays } from './support/dockerfile';
import {
  LONGEST_CALL_SECONDS,
  delaySeconds,
  describeWhere,
  graceSeconds,
  misread,
  notSettings,
  textOf,
  yamlOf,
} from './support/files';

interface Service {
  image: string;
  user?: string;
  command?: string[];
  read_only?: boolean;
  cap_drop?: string[];
  security_opt?: string[];
  environment?: Record<string, string>;
  secrets?: string[];
  configs?: { source: string }[];
  volumes?: (string | { type: string; source: string; target: string; read_only?: boolean })[];
  networks?: string[] | Record<string, { ipv4_address?: string } | null>;
  depends_on?: string[] | Record<string, { condition: string }>;
  healthcheck?: object;
  extra_hosts?: string[];
  ports?: string[];
  stop_grace_period?: string;
  mem_limit?: string;
  cpus?: number;
  pids_limit?: number;
}

interface Compose {
  services: Record<string, Service>;
  secrets: Record<string, { file: string }>;
  configs: Record<string, { content: string }>;
  volumes: Record<string, unknown>;
  networks: Record<string, { internal?: boolean } | null>;
}

const compose = yamlOf('compose.yaml') as Compose;
const services = Object.entries(compose.services);
const gateways = services.filter(([name]) => /^gateway-\d$/.test(name));
const networksOf = ({ networks = {} }: Service): string[] =>
  Array.isArray(networks) ? networks : Object.keys(networks);
const addressOf = (name: string): string | undefined => {
  const { networks = {} } = compose.services[name] ?? {};
  return Array.isArray(networks) ? undefined : networks['front']?.ipv4_address;
};
/** The names among these that are not in the list. */
const missing = (names: readonly string[], list: object): string[] => names.filter((name) => !(name in list));

describe('compose.yaml', () => {
  test.each(services)('%s can write only where it has to, and gains no rights', (_name, service) => {
    expect(service).toMatchObject({
      read_only: true,
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
    });
  });

  test.each(services)(
    '%s has limits for memory and processes, and for processor time unless it is a gateway',
    (name, service) => {
      expect(service.mem_limit).toMatch(/^\d+[mg]$/);
      expect(service.pids_limit).toBeGreaterThan(0);
      if (/^(gateway|migrate)/.test(name)) expect(service.cpus).toBeUndefined();
      else expect(service.cpus).toBeGreaterThan(0);
    },
  );

  test.each(services)('%s names only what there is', (_name, service) => {
    const { secrets = [], configs = [], volumes = [], depends_on = [] } = service;
    expect(missing(secrets, compose.secrets)).toEqual([]);
    expect(
      missing(
        configs.map(({ source }) => source),
        compose.configs,
      ),
    ).toEqual([]);
    expect(missing(networksOf(service), compose.networks)).toEqual([]);
    expect(
      missing(Array.isArray(depends_on) ? depends_on : Object.keys(depends_on), compose.services),
    ).toEqual([]);
    const named = volumes.flatMap((volume) =>
      typeof volume === 'string'
        ? (volume.split(':')[0] ?? [])
        : volume.type === 'volume'
          ? volume.source
          : [],
    );
    expect(missing(named, compose.volumes)).toEqual([]);
    const bound = volumes.flatMap((volume) => (typeof volume === 'string' ? [] : [volume]));
    expect(bound.filter(({ read_only }) => !read_only)).toEqual([]);
    const inProject = bound.map(({ source }) => source).filter((source) => !source.startsWith('./secrets/'));
    expect(inProject.filter((source) => !existsSync(path.join(CHECKOUT, source)))).toEqual([]);
  });

  test('pins every image by its version', () => {
    const foreign = services.map(([, { image }]) => image).filter((image) => !image.startsWith('paygraph:'));
    expect(foreign.filter((image) => !/:v?\d+\.\d+/.test(image))).toEqual([]);
  });

  test('has secrets in files only, which neither git nor the image takes in', () => {
    expect(Object.values(compose.secrets).filter(({ file }) => !file.startsWith('./secrets/'))).toEqual([]);
    expect(textOf('.gitignore').split('\n')).toContain('secrets/');
    const plain = services.flatMap(([, { environment = {} }]) =>
      Object.keys(environment).filter((name) => /KEY|TOKEN|SECRET|PASSWORD|DATABASE_URL/.test(name)),
    );
    expect(plain.filter((name) => !name.endsWith('_FILE') && !name.endsWith('__FILE'))).toEqual([]);
  });

  test('sets only settings that there are, and names only secrets that the gateway has', () => {
    for (const [, { environment = {}, secrets = [] }] of gateways) {
      expect(notSettings(Object.keys(environment))).toEqual([]);
      const given = Object.fromEntries(
        Object.entries(environment).filter(([, value]) => !value.startsWith('${')),
      );
      expect(misread(given)).toEqual([]);
      const paths = Object.values(environment).filter((value) => value.startsWith('/run/secrets/'));
      expect(paths.map((file) => path.basename(file)).sort()).toEqual([...secrets].sort());
    }
  });

  test('migrates before any gateway starts, and lets nginx wait for both', () => {
    expect(compose.services['migrate']?.command).toEqual(['migrate']);
    for (const [, { depends_on }] of gateways)
      expect(depends_on).toEqual({ migrate: { condition: 'service_completed_successfully' } });
    const healthy = gateways.map(([name]) => [name, { condition: 'service_healthy' }]);
    expect(compose.services['nginx']?.depends_on).toEqual(Object.fromEntries(healthy));
    expect(imageSays('HEALTHCHECK').text).toContain('/healthz');
  });

  test('gives nginx the gateways that its configuration names, at the addresses that they have', () => {
    const upstreams = [...textOf('deploy/nginx/paygraph.conf').matchAll(/^ +server (\S+):4000/gm)].map(
      ([, name]) => name,
    );
    expect(upstreams).toEqual(gateways.map(([name]) => name));
    expect(compose.services['nginx']?.extra_hosts).toEqual(
      upstreams.map((name = '') => `${name}=${addressOf(name)}`),
    );
    for (const [, { environment }] of gateways)
      expect(environment).toMatchObject({ TRUSTED_PROXIES: addressOf('nginx') });
  });

  test('lets the database be reached by nobody but gateways, and opens ports to this machine alone', () => {
    expect(compose.networks['back']?.internal).toBe(true);
    const besideDatabase = services.filter(([, service]) => networksOf(service).includes('back'));
    expect(besideDatabase.map(([name]) => name)).toEqual([
      'postgres',
      'migrate',
      ...gateways.map(([name]) => name),
    ]);
    const ports = services.flatMap(([, { ports: open = [] }]) => open);
    expect(ports.filter((port) => !/^(\$\{PAYGRAPH_LISTEN:-)?127\.0\.0\.1:/.test(port))).toEqual([]);
  });

  test('lets Prometheus read every gateway, with the token that they have', () => {
    const { scrape_configs: scraped } = parse(compose.configs['prometheus']?.content ?? '') as {
      scrape_configs: { authorization: object; static_configs: object[] }[];
    };
    expect(scraped).toMatchObject([
      {
        authorization: { credentials_file: gateways[0]?.[1].environment?.['METRICS_TOKEN_FILE'] },
        static_configs: [{ targets: gateways.map(([name]) => `${name}:4000`) }],
      },
    ]);
  });

  test('hands on the settings of traces from .env', () => {
    const names = [
      'EXPORTER_OTLP_ENDPOINT',
      'SERVICE_NAME',
      'RESOURCE_ATTRIBUTES',
      'TRACES_SAMPLER',
      'TRACES_SAMPLER_ARG',
    ];
    for (const [, { environment = {} }] of gateways)
      for (const name of names) expect(environment[`OTEL_${name}`]).toBe(`\${OTEL_${name}:-}`);
  });

  test('waits until what is under way has ended', () => {
    for (const [, { environment = {}, stop_grace_period }] of gateways) {
      expect(graceSeconds(environment)).toBeGreaterThan(LONGEST_CALL_SECONDS);
      expect(parseInt(stop_grace_period ?? '', 10)).toBeGreaterThan(
        delaySeconds(environment) + graceSeconds(environment),
      );
    }
  });
});

const noCompose =
  spawnSync('docker', ['compose', 'version']).status === 0 ? undefined : 'SKIPPED: no `docker compose` here';

describeWhere(noCompose, 'docker compose', () => {
  test('takes the file', () => {
    const words = ['compose', '--profile', 'watch', 'config', '--quiet'];
    const { PATH = '', HOME = '' } = process.env;
    const env = { PATH, HOME, SERVICE_BASE_URL: 'https://pay.example.com/' };
    const { status, stderr } = spawnSync('docker', words, { cwd: CHECKOUT, env, encoding: 'utf8' });
    expect(status === 0 ? '' : stderr).toBe('');
  });
});
