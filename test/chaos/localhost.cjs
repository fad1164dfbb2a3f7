// Preloaded into a gateway (NODE_OPTIONS): the host name localhost leads to LOOPBACK_ADDRESS. All gateways of a run need
// the same SERVICE_BASE_URL, because it identifies the service in the journal, and each needs a proxy of its own.
const dns = require('node:dns');

const { lookup } = dns;
const address = process.env.LOOPBACK_ADDRESS;

dns.lookup = (hostname, options, callback = options) => {
  if (hostname !== 'localhost') return lookup(hostname, options, callback);
  if (options.all) callback(null, [{ address, family: 4 }]);
  else callback(null, address, 4);
};
