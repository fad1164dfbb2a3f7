import { connectionCapacity, descriptorLimit } from '../../shared/file-descriptors';
import { ok, warning, type Check } from './check';

const RAISE =
  'Raise the limit of the process that starts the gateway: LimitNOFILE (systemd), ulimits.nofile (Compose), the container runtime (Kubernetes), ulimit -n (a shell). See docs/deployment.md.';

/** Whether the process may open as many files and sockets as the settings need. */
export const fileDescriptors: Check = {
  name: 'file descriptors',
  run: ({ config }) => {
    const limit = descriptorLimit();
    const capacity = connectionCapacity(limit);
    if (limit === null)
      return [warning(`The limit is not known here: ${capacity} connections are accepted.`, RAISE)];
    const wanted = config.limits.maxConnections;
    const says = `At most ${limit} file descriptors: ${capacity} connections of clients for each process.`;
    if (wanted !== null && wanted > capacity)
      return [warning(`${says} MAX_CONNECTIONS is ${wanted}.`, RAISE)];
    if (config.live.maxWatchers > capacity)
      return [warning(`${says} MAX_SUBSCRIPTIONS is ${config.live.maxWatchers}.`, RAISE)];
    return [ok(says)];
  },
};
