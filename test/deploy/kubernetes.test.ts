import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { parse } from 'yaml';
import { entry, openLog, verify } from '../audit/support/files';
import { until } from '../exactly-once/support/gate';
import { CHECKOUT } from '../gateway/fixtures/program';
import { imageSays } from './support/dockerfile';
import {
  LONGEST_CALL_SECONDS,
  delaySeconds,
  describeWhere,
  envOf,
  graceSeconds,
  lacking,
  misread,
  notSettings,
  openFolder,
  textOf,
  yamlOf,
} from './support/files';

const FOLDER = 'deploy/kubernetes';

interface Probe {
  httpGet: { path: string; port: string };
}
interface Container {
  name: string;
  image: string;
  args?: string[];
  restartPolicy?: string;
  env?: { name: string; value: string }[];
  envFrom?: { configMapRef: { name: string } }[];
  ports?: { name: string; containerPort: number }[];
  securityContext: object;
  resources: { requests: object; limits: { memory: string; cpu?: string } };
  volumeMounts: { name: string; mountPath: string; readOnly?: boolean }[];
  startupProbe: Probe;
  livenessProbe: Probe;
  readinessProbe: Probe;
}
interface Pod {
  serviceAccountName: string;
  automountServiceAccountToken: boolean;
  terminationGracePeriodSeconds: number;
  securityContext: { runAsUser: number; runAsGroup: number; fsGroup: number };
  topologySpreadConstraints: { labelSelector: object }[];
  initContainers: Container[];
  containers: [Container];
  volumes: {
    name: string;
    secret?: { secretName: string; defaultMode: number };
    emptyDir?: { sizeLimit: string };
  }[];
}
interface Workload {
  metadata: { name: string };
  spec: { selector: object; template: { metadata: { labels: object }; spec: Pod } };
}

const of = <T>(file: string): T => yamlOf(`${FOLDER}/${file}`) as T;
const deployment = of<Workload>('deployment.yaml');
const { spec: pod, metadata } = deployment.spec.template;
const [gateway] = pod.containers;
const containers = [...pod.initContainers, ...pod.containers];
const settings = envOf(`${FOLDER}/settings.env`);
const matchLabels = { 'app.kubernetes.io/name': 'paygraph' };

describe('The Kubernetes manifests', () => {
  test('are all in the kustomization', () => {
    const { resources } = of<{ resources: string[] }>('kustomization.yaml');
    const files = readdirSync(path.join(CHECKOUT, FOLDER)).filter((name) => name.endsWith('.yaml'));
    expect([...resources, 'kustomization.yaml'].sort()).toEqual(files.sort());
  });

  test('select the gateway and nothing else: an empty selector would be the whole namespace', () => {
    expect(metadata.labels).toEqual(matchLabels);
    expect(deployment.spec.selector).toEqual({ matchLabels });
    expect(pod.topologySpreadConstraints.map(({ labelSelector }) => labelSelector)).toEqual([
      { matchLabels },
      { matchLabels },
    ]);
    expect(of('service.yaml')).toMatchObject({ spec: { selector: matchLabels } });
    expect(of('disruption-budget.yaml')).toMatchObject({ spec: { selector: { matchLabels } } });
    expect(of('network-policy.yaml')).toMatchObject({ spec: { podSelector: { matchLabels } } });
    expect(of('examples/pod-monitor.yaml')).toMatchObject({ spec: { selector: { matchLabels } } });
    expect(of('autoscaler.yaml')).toMatchObject({
      spec: { scaleTargetRef: { name: deployment.metadata.name } },
    });
    expect(of('service-account.yaml')).toMatchObject({ metadata: { name: pod.serviceAccountName } });
  });

  test('agree on the port, which is the one that the image listens on', () => {
    const [port] = gateway.ports ?? [];
    expect(String(port?.containerPort)).toBe(imageSays('EXPOSE').text);
    const probes = [gateway.startupProbe, gateway.livenessProbe, gateway.readinessProbe];
    expect(probes.map(({ httpGet }) => httpGet)).toEqual([
      { path: '/healthz', port: port?.name },
      { path: '/healthz', port: port?.name },
      { path: '/readyz', port: port?.name },
    ]);
    expect(of('service.yaml')).toMatchObject({ spec: { ports: [{ name: 'http', targetPort: port?.name }] } });
    expect(of('network-policy.yaml')).toMatchObject({
      spec: { ingress: [{ ports: [{ port: port?.name }] }] },
    });
    expect(of('examples/pod-monitor.yaml')).toMatchObject({
      spec: { podMetricsEndpoints: [{ port: port?.name }] },
    });
  });

  test('keep to the restricted profile of pods, with the user of the image', () => {
    const [uid, gid] = imageSays('USER').text.split(':').map(Number);
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
      expect(resources).toMatchObject({
        requests: { cpu: expect.any(String) as unknown, memory: expect.any(String) as unknown },
        limits: { memory: expect.any(String) as unknown },
      });
    }
  });

  test('set only settings that there are, to what the gateway understands', () => {
    const set = containers.flatMap(({ env = [] }) => env.map(({ name }) => name));
    expect(notSettings([...set, ...Object.keys(settings)])).toEqual([]);
    expect(misread(settings)).toEqual([]);
    expect(Object.keys(settings).filter((name) => /KEY|TOKEN|SECRET|DATABASE/.test(name))).toEqual([]);
    const { configMapGenerator } = of<{ configMapGenerator: { name: string }[] }>('kustomization.yaml');
    for (const { envFrom = [] } of containers)
      for (const { configMapRef } of envFrom)
        expect(configMapGenerator.map(({ name }) => name)).toContain(configMapRef.name);
  });

  test('mount the secret that the guide makes, with every file that a setting names', () => {
    const volume = pod.volumes.find(({ secret }) => secret);
    const mounts = containers.flatMap(({ volumeMounts }) =>
      volumeMounts.filter(({ name }) => name === volume?.name),
    );
    expect(new Set(mounts.map(({ mountPath }) => mountPath)).size).toBe(1);
    const named = containers
      .flatMap(({ env = [] }) => env.map(({ value }) => value))
      .map((file) => path.relative(mounts[0]?.mountPath ?? '', file));
    const guide = textOf('docs/deployment.md');
    const made = [...guide.matchAll(/--from-file=(\S+?)(?:=\S+)?(?= |$)/gm)].map(([, key]) => key);
    expect(guide).toContain(`create secret generic ${volume?.secret?.secretName} `);
    expect([...new Set(named)].sort()).toEqual(made.sort());
    const monitor = of<{
      spec: { podMetricsEndpoints: [{ authorization: { credentials: { name: string; key: string } } }] };
    }>('examples/pod-monitor.yaml');
    const { credentials } = monitor.spec.podMetricsEndpoints[0].authorization;
    expect(credentials.name).toBe(volume?.secret?.secretName);
    expect(made).toContain(credentials.key);
  });

  test('leave the time for what is under way to end', () => {
    const grace = graceSeconds(settings);
    expect(grace).toBeGreaterThan(LONGEST_CALL_SECONDS);
    expect(pod.terminationGracePeriodSeconds).toBeGreaterThan(delaySeconds(settings) + grace);
  });

  test('keep the audit log well below the size at which the pod is evicted', () => {
    const { AUDIT_LOG_ROTATE_MB, AUDIT_LOG_KEEP_FILES } = settings;
    // A tenth more at most, and the file that is written to.
    const most = Number(AUDIT_LOG_ROTATE_MB) * 1.1 * (Number(AUDIT_LOG_KEEP_FILES) + 1) * 1e6;
    const [, gibibytes] =
      /^(\d+)Gi$/.exec(pod.volumes.find(({ name }) => name === 'data')?.emptyDir?.sizeLimit ?? '') ?? [];
    expect(most).toBeGreaterThan(0);
    expect(most * 1.5).toBeLessThan(Number(gibibytes) * 2 ** 30);
  });

  test('print every line of the audit log, whenever it is rotated', async () => {
    const folder = openFolder();
    const file = path.join(folder, 'audit.log');
    const { args = [] } = pod.initContainers.find(({ name }) => name === 'audit') ?? {};
    const words = args.map((word) => word.replace('/data/', `${folder}/`));
    const { PATH = '', HOME = '' } = process.env;
    const following = spawn(process.execPath, ['bin/paygraph.mjs', ...words], {
      cwd: CHECKOUT,
      env: { PATH, HOME },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const exited = once(following, 'close');
    let printed = '';
    following.stdout.on('data', (chunk: Buffer) => (printed += chunk.toString()));
    const { log } = openLog(file, { maxBytes: 20_000, keepFiles: 2 });
    for (let call = 0; call < 1000; call += 1) {
      log.record(entry({ key: `order-${call}` }));
      // Fewer lines than are kept of rotated files.
      if (call > 0 && call % 80 !== 79) continue;
      await until(
        () => printed,
        (text) => text.includes(`"order-${call}"`),
      );
    }
    await log.close();
    following.kill('SIGTERM');
    expect(await exited).toEqual([0, null]);
    const shipped = path.join(folder, 'shipped.log');
    writeFileSync(shipped, printed);
    const { faults, notes, verifier } = await verify(shipped);
    expect([...faults, ...notes]).toEqual([]);
    expect(verifier.files).toMatchObject([{ calls: 1000 }]);
  });

  test('show callers no address but those that are for them', () => {
    const { spec } = of<{ spec: { rules: { http: { paths: { path: string }[] } }[] } }>(
      'examples/ingress.yaml',
    );
    expect(spec.rules.flatMap(({ http }) => http.paths.map(({ path: place }) => place))).toEqual([
      '/graphql',
      '/callbacks',
    ]);
  });
});

describeWhere(lacking('kubectl'), 'kubectl', () => {
  test('puts the manifests together', () => {
    const { status, stdout, stderr } = spawnSync('kubectl', ['kustomize', path.join(CHECKOUT, FOLDER)], {
      encoding: 'utf8',
    });
    expect(status === 0 ? '' : stderr).toBe('');
    const kinds = stdout.split(/^---$/m).map((text) => (parse(text) as { kind: string }).kind);
    expect(kinds).toContain('ConfigMap');
    expect(kinds).toContain('Deployment');
  });
});
