import path from 'node:path';
import { migrate } from '../../src/datasources/journal/migrations';
import { buildContext, dockerfileStages, imageEnvironment, lastInstruction } from './support/dockerfile';
import {
  LONGEST_CALL_SECONDS,
  delaySeconds,
  envOf,
  graceSeconds,
  invalidSettings,
  unknownSettings,
  textOf,
  yamlOf,
} from './support/files';

const guide = textOf('docs/deployment.md');

test('.dockerignore allows every file that the build reads', () => {
  const [, sources = ''] = /const sources = \[([^\]]*)\]/.exec(textOf('scripts/build.mjs')) ?? [];
  const read = [...sources.matchAll(/'([^'/]+)[^']*'/g)].map(([, name = '']) => name);
  expect(read).toContain('src');
  expect(read.filter((name) => !buildContext().includes(name))).toEqual([]);
});

describe('The Dockerfile', () => {
  const stages = dockerfileStages();
  const all = stages.flatMap(({ instructions }) => instructions);

  test('uses the Node.js version of package.json and a numeric user, runs no install scripts, and starts the gateway without a shell', () => {
    const { devDependencies } = JSON.parse(textOf('package.json')) as { devDependencies: { node: string } };
    expect(stages[0]?.from).toMatch(new RegExp(`^node:${devDependencies.node}-[a-z]+-slim$`));
    expect(lastInstruction('USER').text).toMatch(/^[1-9]\d+:[1-9]\d+$/);
    const installs = all.filter(({ name, text }) => name === 'RUN' && /\bnpm (ci|install)\b/.test(text));
    expect(installs.filter(({ text }) => !text.includes('--ignore-scripts'))).toEqual([]);
    for (const name of ['ENTRYPOINT', 'CMD']) expect(lastInstruction(name).text).toMatch(/^\[/);
    expect(lastInstruction('HEALTHCHECK').text).toMatch(/^CMD \[/);
  });

  test('sets neither secrets nor paths of secret files', () => {
    const set = Object.keys(imageEnvironment());
    expect(set.filter((name) => /KEY|TOKEN|SECRET|PASSWORD|DATABASE|_FILE$/.test(name))).toEqual([]);
    expect(unknownSettings(set)).toEqual(['NODE_ENV', 'NODE_DISABLE_COMPILE_CACHE', 'HOME']);
    expect(all.filter(({ name }) => ['ARG', 'ADD'].includes(name))).toEqual([]);
  });
});

interface Service {
  cpus?: number;
  environment?: Record<string, string>;
  secrets?: string[];
  networks?: object | string[];
  ports?: string[];
  stop_grace_period?: string;
}

interface Compose {
  services: Record<string, Service>;
  secrets: Record<string, { file: string }>;
  networks: Record<string, { internal?: boolean } | null>;
}

const compose = yamlOf('compose.yaml') as Compose;
const services = Object.entries(compose.services);
const gateways = services.filter(([name]) => /^gateway-\d$/.test(name));

describe('compose.yaml', () => {
  test.each(services)('runs %s read-only, unprivileged and with resource limits', (name, service) => {
    expect(service).toMatchObject({
      read_only: true,
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
      mem_limit: expect.stringMatching(/^\d+[mg]$/) as unknown,
      pids_limit: expect.any(Number) as unknown,
    });
    expect(service.cpus === undefined).toBe(/^(gateway|migrate)/.test(name));
  });

  test('reads secrets only from files, which git ignores', () => {
    expect(Object.values(compose.secrets).filter(({ file }) => !file.startsWith('./secrets/'))).toEqual([]);
    expect(textOf('.gitignore').split('\n')).toContain('secrets/');
    const plain = services.flatMap(([, { environment = {} }]) =>
      Object.keys(environment).filter((name) => /KEY|TOKEN|SECRET|PASSWORD|DATABASE_URL/.test(name)),
    );
    expect(plain.filter((name) => !name.endsWith('_FILE'))).toEqual([]);
    for (const [, { environment = {}, secrets = [] }] of gateways) {
      const paths = Object.values(environment).filter((value) => value.startsWith('/run/secrets/'));
      expect(paths.map((file) => path.basename(file)).sort()).toEqual([...secrets].sort());
    }
  });

  test('starts migrate, then the gateways, then nginx, and makes the gateways trust only the address of nginx', () => {
    const healthy = gateways.map(([name]) => [name, { condition: 'service_healthy' }]);
    expect(compose.services).toMatchObject({
      nginx: { depends_on: Object.fromEntries(healthy) as object },
      migrate: { command: ['migrate'] },
    });
    const { networks } = compose.services['nginx'] as { networks?: { front: { ipv4_address: string } } };
    for (const [, gateway] of gateways)
      expect(gateway).toMatchObject({
        depends_on: { migrate: { condition: 'service_completed_successfully' } },
        environment: { TRUSTED_PROXIES: networks?.front.ipv4_address },
      });
    expect(lastInstruction('HEALTHCHECK').text).toContain('/healthz');
  });

  test('connects only migrate and the gateways to the database, and publishes ports only on the loopback address', () => {
    expect(compose.networks['back']?.internal).toBe(true);
    const besideDatabase = services.filter(([, { networks }]) =>
      JSON.stringify(networks)?.includes('"back"'),
    );
    expect(besideDatabase.map(([name]) => name)).toEqual(
      expect.arrayContaining(['postgres', 'migrate', ...gateways.map(([name]) => name)]),
    );
    expect(besideDatabase).toHaveLength(gateways.length + 2);
    const ports = services.flatMap(([, { ports: open = [] }]) => open);
    expect(ports.filter((port) => !/^(\$\{PAYGRAPH_LISTEN:-)?127\.0\.0\.1:/.test(port))).toEqual([]);
  });
});

const KUBERNETES = 'deploy/kubernetes';

interface PodContainer {
  env?: { name: string; value: string }[];
  securityContext: object;
  resources: object;
  volumeMounts: { name: string; mountPath: string }[];
}

interface Pod {
  terminationGracePeriodSeconds: number;
  initContainers: PodContainer[];
  containers: [PodContainer];
  volumes: { name: string; secret?: { secretName: string }; emptyDir?: { sizeLimit: string } }[];
}

const of = <T>(file: string): T => yamlOf(`${KUBERNETES}/${file}`) as T;
const { spec: pod } = of<{ spec: { template: { spec: Pod } } }>('deployment.yaml').spec.template;
const containers = [...pod.initContainers, ...pod.containers];
const podSettings = envOf(`${KUBERNETES}/settings.env`);

describe('The Kubernetes manifests', () => {
  test('comply with the restricted Pod Security Standard, and run as the user of the image', () => {
    const [uid, gid] = lastInstruction('USER').text.split(':').map(Number);
    expect(pod).toMatchObject({
      automountServiceAccountToken: false,
      securityContext: {
        runAsNonRoot: true,
        runAsUser: uid,
        runAsGroup: gid,
        fsGroup: gid,
        seccompProfile: { type: 'RuntimeDefault' },
      },
    });
    for (const { securityContext, resources } of containers) {
      expect(securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
      const limited = expect.any(String) as unknown;
      expect(resources).toMatchObject({
        requests: { cpu: limited, memory: limited },
        limits: { memory: limited },
      });
    }
  });

  test('mount the secret that docs/deployment.md creates, with every file that a setting names', () => {
    const { name = '', secret } = pod.volumes.find((volume) => volume.secret)!;
    const mounts = containers.flatMap(({ volumeMounts }) =>
      volumeMounts.filter((mount) => mount.name === name),
    );
    const [place = '', ...otherPlaces] = new Set(mounts.map(({ mountPath }) => mountPath));
    expect(otherPlaces).toEqual([]);
    const named = containers.flatMap(({ env = [] }) => env.map(({ value }) => path.relative(place, value)));
    const made = [...guide.matchAll(/--from-file=(\S+?)(?:=\S+)?(?= |$)/gm)].map(([, key]) => key);
    expect(guide).toContain(`create secret generic ${secret?.secretName} `);
    expect([...new Set(named)].sort()).toEqual(made.sort());
  });

  test('keep the audit log well below the size at which the pod is evicted', () => {
    const { AUDIT_LOG_ROTATE_MB, AUDIT_LOG_KEEP_FILES } = podSettings;
    // Adds 10 % for rotation delays, and the current file.
    const most = Number(AUDIT_LOG_ROTATE_MB) * 1.1 * (Number(AUDIT_LOG_KEEP_FILES) + 1) * 1e6;
    const { sizeLimit = '' } = pod.volumes.find(({ name }) => name === 'data')?.emptyDir ?? {};
    expect(sizeLimit).toMatch(/^\d+Gi$/);
    expect(most).toBeGreaterThan(0);
    expect(most * 1.5).toBeLessThan(parseInt(sizeLimit, 10) * 2 ** 30);
  });
});

const UNIT = 'deploy/systemd/paygraph.service';

const values = (name: string): string[] =>
  [...textOf(UNIT).matchAll(new RegExp(`^${name}=(.*)$`, 'gm'))].map(([, value = '']) => value);

const unitSettings = envOf('deploy/systemd/paygraph.env');

describe('The systemd unit', () => {
  test('loads every credential that a setting names', () => {
    const loaded = values('LoadCredential').map((line) => line.split(':')[0]);
    const named = values('Environment').map((line) => /^[A-Z_]+_FILE=%d\/(.+)$/.exec(line)?.[1]);
    expect(named).toEqual(loaded);
  });
});

/** Settings of the gateway and its kill timeout in seconds, in each deployment. */
const DEPLOYMENTS = [
  ...gateways.map(([name, { environment = {}, stop_grace_period = '' }]) => ({
    name: `compose.yaml: ${name}`,
    settings: Object.fromEntries(Object.entries(environment).filter(([, value]) => !value.startsWith('${'))),
    others: Object.keys(environment),
    killedAfter: parseInt(stop_grace_period, 10),
  })),
  {
    name: KUBERNETES,
    settings: podSettings,
    others: containers.flatMap(({ env = [] }) => env.map((one) => one.name)),
    killedAfter: pod.terminationGracePeriodSeconds,
  },
  {
    name: UNIT,
    settings: unitSettings,
    others: values('Environment').map((line) => line.split('=')[0] ?? ''),
    killedAfter: Number(values('TimeoutStopSec')[0]),
  },
];

describe.each(DEPLOYMENTS)('The gateway configured by $name', ({ settings, others, killedAfter }) => {
  const names = [...Object.keys(settings), ...others];

  test('has only known settings with valid values, and reads secrets from files', () => {
    expect(unknownSettings(names)).toEqual([]);
    expect(invalidSettings(settings)).toEqual([]);
    const secret = names.filter((name) => /KEY|TOKEN|SECRET|PASSWORD|DATABASE/.test(name));
    expect(secret.filter((name) => !name.endsWith('_FILE'))).toEqual([]);
  });

  test('has time to complete the longest call after the shutdown delay', () => {
    expect(graceSeconds(settings)).toBeGreaterThan(LONGEST_CALL_SECONDS);
    expect(killedAfter).toBeGreaterThan(delaySeconds(settings) + graceSeconds(settings));
  });
});

test.each(['sqlite', 'postgres'] as const)(
  'The migrations of a new journal on %s drop, rename and change no table, column or row',
  async (dialect) => {
    const statements: string[] = [];
    await migrate({
      dialect,
      execute: async (sql) => {
        statements.push(sql);
        return [];
      },
      runInTransaction: (work) => work(),
    });
    expect(statements.length).toBeGreaterThan(5);
    const REMOVING =
      /\b(DROP(?! INDEX)|RENAME|DELETE|TRUNCATE|UPDATE|ALTER\s+COLUMN(?! \w+ SET STORAGE)|SET\s+NOT\s+NULL)\b/i;
    const withoutFunctions = statements.map((sql) => sql.replace(/\$\$[^]*\$\$/, ''));
    expect(withoutFunctions.filter((sql) => REMOVING.test(sql))).toEqual([]);
  },
);
